import { createServer, type Server } from "node:https";
import net, { type AddressInfo, type TcpNetConnectOpts } from "node:net";
import tls from "node:tls";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { vi } from "vitest";
import type { NetworkAnswer } from "./vector.ts";

/** Hosts that a vector names, served over real TLS sockets of this machine. */
export interface VectorNetwork extends AsyncDisposable {
  /** The URLs that were asked, in their order. */
  readonly asked: readonly string[];
}

/**
 * Lets every TLS connection of this process lead to a server of its own that answers as the vector says. What is between, the
 * command and its fetch, is the real thing; only names and certificates are not.
 */
export async function serveNetwork(answers: Readonly<Record<string, NetworkAnswer>>): Promise<VectorNetwork> {
  const { cert, key } = createSelfSignedCertificate();
  const asked: string[] = [];
  const server: Server = createServer({ cert, key }, (request, response) => {
    const url = `https://${request.headers.host}${request.url}`;
    asked.push(url);
    const answer = answers[url] ?? { status: 404, headers: {}, body: "" };
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const here = { host: "127.0.0.1", port };
  const connectTcp = net.connect;
  const connectTls = tls.connect;
  // Of the overloads of both, the one that HTTP clients use. A guarded fetch begins TLS on a connection that it has made before.
  const spies = [
    vi
      .spyOn(net, "connect")
      .mockImplementation(((options: TcpNetConnectOpts) =>
        connectTcp({ ...options, ...(Number(options.port) === 443 ? here : {}) })) as typeof net.connect),
    vi
      .spyOn(tls, "connect")
      .mockImplementation(((options: tls.ConnectionOptions, listener?: () => void) =>
        connectTls(
          { ...options, ...here, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] },
          listener,
        )) as typeof tls.connect),
  ];
  return {
    asked,
    async [Symbol.asyncDispose]() {
      for (const spy of spies) spy.mockRestore();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
