import { AgentCardSchema, type AgentCard } from "@a2a-connect/proto";
import { fromJsonString } from "@bufbuild/protobuf";
import type { ConnectOptions } from "../options.ts";
export interface ResolvedCard { readonly card: AgentCard; readonly warnings: readonly string[]; readonly url: string | undefined; readonly text: string }
export interface CardResolver { resolve(signal?: AbortSignal): Promise<ResolvedCard>; refresh(signal?: AbortSignal): Promise<ResolvedCard> }
export function createCardResolver(reference: string | URL | AgentCard, options: ConnectOptions): CardResolver {
  const go = async (): Promise<ResolvedCard> => {
    if (typeof reference === "object" && "$typeName" in reference) return { card: reference, warnings: [], url: undefined, text: "" };
    const url = new URL("/.well-known/agent-card.json", reference).href;
    const text = await (await (options.fetch ?? fetch)(url)).text();
    return { card: fromJsonString(AgentCardSchema, text, { ignoreUnknownFields: true }), warnings: [], url, text };
  };
  return { resolve: go, refresh: go };
}
