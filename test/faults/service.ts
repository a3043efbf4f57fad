import { findA2AError } from "@a2a-connect/core";
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
}

/** Where a service is for the moment. */
export interface Place {
  readonly url: string;
  /** Resolves with whether something came between this place and its caller; until then nobody knows. */
  lost(): Promise<boolean>;
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
    async persist(wire, call) {
      for (;;) {
        const place = await find();
        try {
          return await call(clientOf(wire, place.url));
        } catch (error) {
          if (findA2AError(error) !== undefined || !(await place.lost())) throw error;
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
