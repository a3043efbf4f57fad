import type { JsonObject } from "@bufbuild/protobuf";
import { startHttpServer } from "../../packages/client/test-support/http-server.ts";

/** Somebody in between: asks another server, and passes on what it likes. */
export interface TamperingProxy extends AsyncDisposable {
  readonly url: string;
  /** What becomes of JSON from now on. Default: nothing. */
  change: (json: JsonObject) => JsonObject;
}

/** Starts one before `upstream` on a free port of this machine. */
export async function startTamperingProxy(upstream: string): Promise<TamperingProxy> {
  const server = await startHttpServer(async (request, response) => {
    const found = await fetch(upstream + request.url);
    const json = (await found.json()) as JsonObject; // the test's own server has no other
    response.writeHead(found.status, { "content-type": "application/json", "cache-control": "no-cache" });
    response.end(JSON.stringify(proxy.change(json)));
  });
  const proxy: TamperingProxy = { ...server, change: (json) => json };
  return proxy;
}
