import { connectBinding, grpcWebBinding } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import type { Wire } from "@a2a-connect/testing";
import { clone } from "@bufbuild/protobuf";

/** What each wire is called in a card. */
export const bindingOf: Readonly<Record<Wire, string>> = {
  grpc: "GRPC",
  "grpc-web": grpcWebBinding,
  connect: connectBinding,
  jsonrpc: "JSONRPC",
  "http-json": "HTTP+JSON",
};

/** The card of the agent at `baseUrl`, with addresses of what stands before it at `otherUrl`. */
export function moveCard(card: AgentCard, baseUrl: string, otherUrl: string): AgentCard {
  const moved = clone(AgentCardSchema, card);
  for (const each of moved.supportedInterfaces) {
    each.url = each.url.replace(new URL(baseUrl).host, new URL(otherUrl).host); // gRPC's has no scheme
  }
  return moved;
}
