import { createHttpJsonTransport, createJsonRpcTransport } from "@a2a-connect/bindings/client";
import { userMessage } from "@a2a-connect/core";
import { setServiceParameters } from "@a2a-connect/core/internal";
import { A2AService } from "@a2a-connect/proto";
import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type BenchClient, type ClientWire, requireWholeTask } from "./bench-client.ts";

/** Sends `A2A-Version`, which Connect's own transport knows nothing of. */
const sendVersion: Interceptor = (next) => (request) => {
  setServiceParameters(request.header);
  return next(request);
};

const transports: Readonly<Record<ClientWire, (url: string) => Transport>> = {
  JSONRPC: (url) => createJsonRpcTransport({ url: `${url}/rpc` }),
  "HTTP+JSON": (url) => createHttpJsonTransport({ baseUrl: `${url}/rest` }),
  GRPC: (url) => createGrpcTransport({ baseUrl: url, interceptors: [sendVersion] }),
};

/** Connect's generated client on the transports that ours uses: no card, no task that is put together, no second try. */
export function openConnectClient(url: string, wire: ClientWire): BenchClient {
  const client = createClient(A2AService, transports[wire](url));
  const countEvents = async (command: string) => {
    const message = userMessage(command, { messageId: crypto.randomUUID() });
    let events = 0;
    for await (const _ of client.sendStreamingMessage({ message })) {
      events += 1;
    }
    return events;
  };
  return { finish: async (command) => requireWholeTask(await countEvents(command)), countEvents };
}
