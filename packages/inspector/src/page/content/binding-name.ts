import { shownLine } from "./shown.ts";

/** Bindings by the names that people know, others as they stand in the card. */
export function bindingName(binding: string): string {
  const own = /^urn:a2a-connect:binding:([a-z-]+):v1$/.exec(binding)?.[1];
  const names: Readonly<Record<string, string>> = {
    connect: "Connect",
    "grpc-web": "gRPC-Web",
    JSONRPC: "JSON-RPC",
    GRPC: "gRPC",
  };
  return names[own ?? binding] ?? shownLine(binding, 80);
}
