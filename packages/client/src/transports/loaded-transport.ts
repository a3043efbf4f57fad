import { Code, ConnectError, type Transport } from "@connectrpc/connect";

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
