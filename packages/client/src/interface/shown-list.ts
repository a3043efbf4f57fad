import { shownText, shownUrl } from "@a2a-connect/core/internal";
import type { AgentInterface } from "@a2a-connect/proto";

/** Most items that a sentence lists. */
const maxItems = 10;

/** Texts of another party as a list within a sentence; `none` when there are none. */
export function shownList(texts: Iterable<string>, none = "none"): string {
  const items = [...new Set(texts)].map(shownText);
  const rest = items.length - maxItems;
  const shown = items.slice(0, maxItems).join(", ");
  return shown === "" ? none : rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** An interface in a sentence: `JSONRPC at https://agent.example/rpc`. */
export function shownInterface({ protocolBinding, url }: AgentInterface): string {
  return `${shownText(protocolBinding)} at ${shownUrl(url)}`;
}
