import { escapeInvisible } from "@a2a-connect/core/internal";

/**
 * A text of another party as people see it: characters that show nothing and may hide words or change their order are
 * written as escapes. Line feeds and tabs stay.
 */
export function shown(text: string): string {
  return text.replace(/\r\n?/g, "\n").split("\t").map(escapeInvisible).join("\t");
}

/** The same in one line of at most `maxLength` characters, for labels. */
export function shownLine(text: string, maxLength = 200): string {
  const line = shown(text.slice(0, 4 * maxLength))
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength).toWellFormed()}…` : line;
}

/** `1.2 MB`. */
export function formatBytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  const units = ["kB", "MB", "GB"];
  let value = count;
  let unit = "B";
  for (const each of units) {
    if (value < 1_000) break;
    value /= 1_000;
    unit = each;
  }
  return `${value.toPrecision(3)} ${unit}`;
}

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
