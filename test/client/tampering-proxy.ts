import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";

/** Somebody in between: asks another server, and passes on what it likes. */
export interface TamperingProxy extends AsyncDisposable {
  readonly url: string;
  /** What becomes of JSON from now on. Default: nothing. */
  change: (json: JsonObject) => JsonObject;
}

/** Starts one before `upstream` on a free port of this machine. */
export async function startTamperingProxy(upstream: string): Promise<TamperingProxy> {
  const server = createServer(async (request, response) => {
    const found = await fetch(upstream + request.url);
    const json = (await found.json()) as JsonObject; // the test's own server has no other
    response.writeHead(found.status, { "content-type": "application/json", "cache-control": "no-cache" });
    response.end(JSON.stringify(proxy.change(json)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: TamperingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // of a TCP server
    change: (json) => json,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
