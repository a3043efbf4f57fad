import type { BrowserLogin } from "@a2a-connect/auth/client";
import { listen } from "@a2a-connect/node";
import { textResponse } from "@a2a-connect/server/internal";

/** Where a browser comes back to: a port of this machine that takes one answer (RFC 8252 §7.3). */
export interface Loopback extends AsyncDisposable, Pick<BrowserLogin, "redirectUri"> {
  /** Waits for the browser. @returns the URL that it came back to */
  receive(signal: AbortSignal | undefined): Promise<URL>;
}

const path = "/back";

/** Nothing else is loaded, and no other page learns the address, which has the code of the login. */
const safeFields = { "content-security-policy": "default-src 'none'", "referrer-policy": "no-referrer" };

/** Listens on this machine alone, on a port that the system chooses. */
export async function openLoopback(): Promise<Loopback> {
  const arrived = Promise.withResolvers<URL>();
  arrived.promise.catch(() => {});
  const listener = await listen(
    async ({ method, url }) => {
      const back = new URL(url);
      const isBack = method === "GET" && back.pathname === path && back.searchParams.has("state");
      if (isBack) arrived.resolve(back);
      // What the answer says is not shown: it may come from any page.
      const said = isBack
        ? "You can close this window and go back to the terminal."
        : "There is nothing here.";
      const page = `<!doctype html><title>a2a</title><p>${said}`;
      return textResponse(isBack ? 200 : 404, "text/html; charset=utf-8", page, safeFields);
    },
    { host: "127.0.0.1" },
  );
  return {
    redirectUri: `${listener.url}${path}`,
    async receive(signal) {
      signal?.addEventListener("abort", () => arrived.reject(signal.reason), { once: true });
      return await arrived.promise;
    },
    [Symbol.asyncDispose]: () => listener.close({ graceMs: 0, timeoutMs: 0 }),
  };
}
