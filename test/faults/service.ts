import { A2AService } from "@a2a-connect/proto";
import type { A2AClient } from "@a2a-connect/testing";
import { createClient } from "@connectrpc/connect";
import { wires } from "../interop/wires.ts";

/** The wires that are tried, Connect in both of its encodings. */
export const wireNames: readonly string[] = Object.keys(wires);

/** A server that is cut off or goes away at any time, and can be reached again afterwards. */
export interface Service {
  /**
   * Makes a call, and makes it again whenever it was lost on the way: with nothing but what it has kept itself.
   *
   * @param wire a name of `wireNames`
   * @throws what the server answered; an error that nothing outside explains
   */
  persist<T>(wire: string, call: (client: A2AClient) => Promise<T>): Promise<T>;
  /** A client of the server as it is now. */
  client(wire: string): Promise<A2AClient>;
}

/** A stream looked complete and was not: whatever broke it, its reader has to be told. */
export class FalseEnd extends Error {}

/** Where a service is for the moment. */
export interface Place {
  readonly url: string;
  /** Whether something came between this place and its caller, and the error is of that. */
  isLost(error: unknown): Promise<boolean>;
}

/** A service that is found anew for each call. */
export function createService(find: () => Promise<Place>): Service {
  const clients = new Map<string, A2AClient>();
  const clientOf = (wire: string, url: string) => {
    const key = `${wire} ${url}`;
    const client = clients.get(key) ?? connect(wire, url);
    clients.set(key, client);
    return client;
  };
  return {
    async client(wire) {
      return clientOf(wire, (await find()).url);
    },
    async persist(wire, call) {
      for (;;) {
        const place = await find();
        try {
          return await call(clientOf(wire, place.url));
        } catch (error) {
          if (error instanceof FalseEnd || !(await place.isLost(error))) throw error;
        }
      }
    },
  };
}

/** A client of the server at `url`. */
export function connect(wire: string, url: string): A2AClient {
  const createTransport = wires[wire];
  if (createTransport === undefined) throw new Error(`there is no wire ${wire}`);
  return createClient(A2AService, createTransport(url));
}
