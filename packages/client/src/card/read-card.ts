import { AgentCardSchema, type AgentCard } from "@a2a-connect/proto";
import { fromJsonString } from "@bufbuild/protobuf";
export function readCard(text: string): { card: AgentCard; warnings: readonly string[] } { return { card: fromJsonString(AgentCardSchema, text, { ignoreUnknownFields: true }), warnings: [] }; }
