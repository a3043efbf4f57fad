import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch as undiciFetch } from "undici";
import type { NodeTlsOptions } from "./tls-options.ts";

/** A `fetch` with connections of its own. */
export interface NodeFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Closes all connections; calls that still run reject. */
  close(): Promise<void>;
}

/**
 * A `fetch` with TLS options and a limit for connecting, and without the global one's limit of 5 minutes for a
 * response: a blocking call may take as long as its task. It uses proxies of the environment where Node's own `fetch`
 * would (`NODE_USE_ENV_PROXY=1`).
 */
export function createNodeFetch(tls: NodeTlsOptions, connectTimeoutMs: number): NodeFetch {
  const options = { headersTimeout: 0, bodyTimeout: 0, connect: { ...tls, timeout: connectTimeoutMs } };
  const dispatcher: Dispatcher =
    process.env["NODE_USE_ENV_PROXY"] === "1"
      ? new EnvHttpProxyAgent({ ...options, requestTls: options.connect })
      : new Agent(options);
  return {
    // undici's types name its own classes in place of the DOM's. At run time they are the same, except for form data.
    fetch: async (input, init) =>
      (await undiciFetch(
        input as Parameters<typeof undiciFetch>[0],
        { ...init, dispatcher } as Parameters<typeof undiciFetch>[1],
      )) as unknown as Response,
    close: () => dispatcher.destroy(),
  };
}
