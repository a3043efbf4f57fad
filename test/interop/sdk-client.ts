import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import type { AgentProcess } from "./agent-process.ts";

/** The transports of the official client, by the names that they have in a card. */
export type SdkTransportName = "JSONRPC" | "HTTP+JSON" | "GRPC";

/** The official client of an agent: reads its card and takes the transport that the test wants. */
export function createSdkClient({ url }: AgentProcess, preferred: SdkTransportName): Promise<Client> {
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()],
    preferredTransports: [preferred],
  });
  return factory.createFromUrl(url);
}
