import type { AgentInterface } from "@a2a-connect/proto";
import { stripControlSequences } from "../content/strip-control-sequences.ts";

/** Longest text of others that a sentence of ours repeats, in UTF-16 units. */
const maxLength = 160;

/** Most items that a sentence lists. */
const maxItems = 10;

/** A text from a card or a server as it may stand in a message: in one line, short, and nothing that a terminal obeys. */
export function shownText(text: string): string {
  const line = stripControlSequences(text).replaceAll(/\s+/g, " ").trim().toWellFormed();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}

/** Texts of others as a list within a sentence; `none` when there are none. */
export function shownList(texts: Iterable<string>, none = "none"): string {
  const items = [...new Set(texts)].map(shownText);
  const rest = items.length - maxItems;
  const shown = items.slice(0, maxItems).join(", ");
  return shown === "" ? none : rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** An address without what may be secret in it: credentials and query. What is no URL comes back as it is, shortened. */
export function shownUrl(address: string | URL): string {
  const url = address instanceof URL ? address : URL.parse(address);
  return shownText(
    url === null || url.host === "" ? String(address) : `${url.protocol}//${url.host}${url.pathname}`,
  );
}

/** An interface in a sentence: `JSONRPC at https://agent.example/rpc`. */
export function shownInterface({ protocolBinding, url }: AgentInterface): string {
  return `${shownText(protocolBinding)} at ${shownUrl(url)}`;
}
