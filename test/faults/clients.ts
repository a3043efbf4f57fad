import { A2AService } from "@a2a-connect/proto";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";

/** Clients of one server, and the way to let go of its connections. */
export interface Clients extends Disposable {
  /** The next one in turn: gRPC, gRPC-Web, Connect. */
  next(): Client<typeof A2AService>;
}

const withVersion: Interceptor = (next) => (request) => {
  request.header.set("a2a-version", "1.0");
  return next(request);
};

/** One client for each protocol that Connect has, for the server at `baseUrl`. */
export function createClients(baseUrl: string): Clients {
  const sessionManager = new Http2SessionManager(baseUrl);
  const interceptors = [withVersion];
  const transports: readonly Transport[] = [
    createGrpcTransport({ baseUrl, interceptors, sessionManager }),
    createGrpcWebTransport({ baseUrl, interceptors, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl, interceptors, httpVersion: "1.1" }),
  ];
  const clients = transports.map((transport) => createClient(A2AService, transport));
  let turn = 0;
  return {
    next() {
      const client = clients[turn++ % clients.length];
      if (client === undefined) throw new Error("there are no clients");
      return client;
    },
    [Symbol.dispose]: () => sessionManager.abort(),
  };
}
