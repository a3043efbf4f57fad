import {
  createHttpJsonTransport,
  createJsonRpcTransport,
  type WireFetch,
} from "@a2a-connect/bindings/client";
import { parseHttpUrl } from "@a2a-connect/core/internal";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { BindingTransport, BindingTransportSettings } from "../platform.ts";
import { createTransportFetch, withRules } from "./transport-fetch.ts";

/**
 * The wires of JSON: JSONRPC and HTTP+JSON. The code for versions before 1.0 is loaded for the first call of an agent that has
 * no other.
 */
export const jsonTransports: readonly BindingTransport[] = [
  jsonTransport("JSONRPC", undefined, ({ url, fetch, interceptors, maxResponseBytes }) =>
    createJsonRpcTransport({ url, fetch, interceptors, maxResponseBytes }),
  ),
  jsonTransport("HTTP+JSON", undefined, ({ url, fetch, interceptors, maxResponseBytes }) =>
    createHttpJsonTransport({ baseUrl: url, fetch, interceptors, maxResponseBytes }),
  ),
  jsonTransport("JSONRPC", ["0.3", "0.2"], ({ url, fetch, interceptors, maxResponseBytes }) =>
    loadedTransport(async () => {
      const { createOlderJsonRpcTransport, readOlderCard: readCard } = await import("../on-demand.ts");
      return createOlderJsonRpcTransport({ url, fetch, interceptors, maxResponseBytes, readCard });
    }),
  ),
  jsonTransport("HTTP+JSON", ["0.3"], ({ url, fetch, interceptors, maxResponseBytes }) =>
    loadedTransport(async () => {
      const { createOlderHttpJsonTransport, readOlderCard: readCard } = await import("../on-demand.ts");
      return createOlderHttpJsonTransport({ baseUrl: url, fetch, interceptors, maxResponseBytes, readCard });
    }),
  ),
];

/** A wire that needs no more of `fetch` than its platform's exchange can do. */
function jsonTransport(
  binding: string,
  versions: readonly string[] | undefined,
  create: (settings: Omit<BindingTransportSettings, "fetch"> & { readonly fetch: WireFetch }) => Transport,
): BindingTransport {
  return {
    binding,
    ...(versions === undefined ? {} : { versions }),
    open(settings) {
      const url = requireHttpUrl(settings.url);
      const { exchange } = settings;
      const { fetch, close } =
        exchange === undefined ? createTransportFetch(settings.fetch) : withRules(exchange);
      return { transport: create({ ...settings, url, fetch }), close };
    },
  };
}

/**
 * A wire that needs only `fetch`. A server that cannot be reached, or a response that is cut off, is Unavailable with
 * the platform's error as its cause; a response over the limit is ResourceExhausted; redirects are not followed.
 */
export function fetchTransport(
  binding: string,
  create: (settings: BindingTransportSettings) => Transport,
): BindingTransport {
  return {
    binding,
    open(settings) {
      const url = requireHttpUrl(settings.url);
      const { fetch, close } = createTransportFetch(settings.fetch);
      return { transport: create({ ...settings, url, fetch }), close };
    },
  };
}

function requireHttpUrl(text: string): string {
  if (parseHttpUrl(text) === undefined) {
    throw new Error(`${JSON.stringify(text)} is not an absolute http or https URL`);
  }
  return text;
}

/** A transport that is loaded for its first call, and again for the next one when that failed. */
export function loadedTransport(load: () => Promise<Transport>): Transport {
  let loading: Promise<Transport> | undefined;
  const transport = () => {
    loading ??= load().catch((cause: unknown) => {
      loading = undefined;
      throw new ConnectError(
        "the code for this wire cannot be loaded",
        Code.Unavailable,
        undefined,
        undefined,
        cause,
      );
    });
    return loading;
  };
  return {
    unary: async (...call) => (await transport()).unary(...call),
    stream: async (...call) => (await transport()).stream(...call),
  };
}
