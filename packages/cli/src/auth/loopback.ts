import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserLogin } from "@a2a-connect/auth/client";

/** Where a browser comes back to: a port of this machine that takes one answer (RFC 8252 §7.3). */
export interface Loopback extends AsyncDisposable, Pick<BrowserLogin, "redirectUri"> {
  /** Waits for the browser. @returns the URL that it came back to */
  receive(signal: AbortSignal | undefined): Promise<URL>;
}

const path = "/back";

/** Listens on this machine alone, on a port that the system chooses. */
export async function openLoopback(): Promise<Loopback> {
  const arrived = Promise.withResolvers<URL>();
  arrived.promise.catch(() => {});
  const server: Server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", redirectUri);
    // What the answer says is not shown: it may come from any page.
    response.setHeader("content-type", "text/html; charset=utf-8").setHeader("connection", "close");
    response
      .setHeader("content-security-policy", "default-src 'none'")
      .setHeader("referrer-policy", "no-referrer");
    if (request.method !== "GET" || url?.pathname !== path || !url.searchParams.has("state")) {
      response.writeHead(404).end("<!doctype html><title>a2a</title><p>There is nothing here.");
      return;
    }
    response.end(
      "<!doctype html><title>a2a</title><p>You can close this window and go back to the terminal.",
    );
    arrived.resolve(url);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`; // a bound TCP server has one
  return {
    redirectUri,
    async receive(signal) {
      signal?.addEventListener("abort", () => arrived.reject(signal.reason), { once: true });
      return await arrived.promise;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
