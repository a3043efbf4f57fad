import { usageError } from "../cli-error.ts";

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration as it is typed: `500ms`, `2s`, `1.5m`, `1h`, or plain seconds. Undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(?<amount>\d+(?:\.\d+)?|\.\d+)(?<unit>ms|s|m|h)?$/i.exec(text.trim());
  const amount = match?.groups?.["amount"];
  if (amount === undefined) return undefined;
  const unit = match?.groups?.["unit"]?.toLowerCase() ?? "s";
  return Math.round(Number(amount) * (unitsMs[unit] ?? 1_000));
}

export function formatDuration(ms: number): string {
  const unit = ["h", "m", "s"].find((name) => ms !== 0 && ms % (unitsMs[name] ?? 1) === 0) ?? "ms";
  return `${ms / (unitsMs[unit] ?? 1)}${unit}`;
}

/** The bindings that `--transport` knows, by what people type, in lower case. */
const bindings: Readonly<Record<string, string>> = {
  jsonrpc: "JSONRPC",
  "json-rpc": "JSONRPC",
  "http+json": "HTTP+JSON",
  "http-json": "HTTP+JSON",
  rest: "HTTP+JSON",
  grpc: "GRPC",
  connect: "urn:a2a-connect:binding:connect:v1",
  "grpc-web": "urn:a2a-connect:binding:grpc-web:v1",
};

/** The binding as a card writes it (requirement L-4), or undefined for a word that is none. URIs pass. */
export function parseBinding(text: string): string | undefined {
  const word = text.trim();
  return bindings[word.toLowerCase()] ?? (/^[a-z][a-z0-9+.-]*:\S+$/i.test(word) ? word : undefined);
}

/** Whether a setting is the key itself, and not the name of a file with one. */
export function isInlineKey(text: string): boolean {
  return /^\s*(?:\{|-----BEGIN )/.test(text);
}

/** Whether a text is a private key, or has one: on a command line, in the environment and in a project's file it has no place. */
export function holdsPrivateKey(text: string): boolean {
  return /-----BEGIN [A-Z ]*PRIVATE KEY|"d"\s*:|"k"\s*:/.test(text);
}

/** The value of an option that is a time, or a duration from now on (`direction` 1) or back (-1). @throws CliError USAGE */
export function parseTime(option: string, text: string, direction: 1 | -1): Date {
  const ms = /[a-z]$/i.test(text) ? parseDuration(text) : undefined;
  const time =
    ms === undefined
      ? new Date(/^\d{4}-\d{2}-\d{2}/.test(text) ? text : Number.NaN)
      : new Date(Date.now() + direction * ms);
  if (Number.isNaN(time.getTime())) {
    throw usageError(
      `--${option} ${text} is neither a time such as 2026-01-31T12:00:00Z nor a duration such as 24h`,
    );
  }
  return time;
}
