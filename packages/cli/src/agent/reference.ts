import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { isLoopbackHost } from "@a2a-connect/core/internal";
import { CliError, usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { readInput, toPath } from "../files.ts";
import { type AgentEntry, findAgent } from "../settings/book.ts";

/** What `--agent-card` means: an address, a file, or an agent of `a2a.config.yaml` (a2a-cli §10.1). */
export type CardReference =
  | { readonly kind: "url"; readonly url: string; readonly entry?: AgentEntry }
  | {
      readonly kind: "file";
      readonly path: string;
      /** What was given need not have meant a file: the one that is there takes the place of a host or a name. */
      readonly isFound: boolean;
    };

/**
 * A file that is there, a name that `a2a.config.yaml` knows, or an address: a host without a scheme is called over https, this
 * machine over http. @throws CliError USAGE without a reference, CARD_NOT_FOUND for a path that leads nowhere
 */
export async function resolveCardReference(text: string | undefined, io: CliIo): Promise<CardReference> {
  const reference = text?.trim() ?? "";
  if (reference === "") {
    throw usageError(
      "no agent is named",
      "name one with -a, such as -a localhost:4000, or set A2ACLI_AGENT_CARD",
    );
  }
  if (/^https?:\/\//i.test(reference)) return { kind: "url", url: requireUrl(reference) };
  if (/^file:/i.test(reference))
    return { kind: "file", path: await requireFile(toPath(reference, io.cwd)), isFound: false };
  const path = resolve(io.cwd, reference.replace(/^~(?=\/|$)/, io.home || homedir()));
  if (isReadable(await look(path))) return { kind: "file", path, isFound: !isPath(reference) };
  const entry = await findAgent(reference, io);
  if (entry !== undefined) return { kind: "url", url: withScheme(entry.url), entry };
  if (isPath(reference)) return { kind: "file", path: await requireFile(path), isFound: false };
  return { kind: "url", url: requireUrl(withScheme(reference)) };
}

/** Whether it can only be a path: neither a host, with or without one behind it, nor a name. */
function isPath(reference: string): boolean {
  return /^[./~]|\.json$/i.test(reference) && !/^[^./~][^/]*\/.*\.json$/i.test(reference);
}

function withScheme(address: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return address;
  const { hostname } = URL.parse(`http://${address}`) ?? { hostname: "" };
  const isHere = isLoopbackHost(hostname) || hostname === "0.0.0.0";
  return `${isHere ? "http" : "https"}://${address}`;
}

function requireUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") {
    const why = url === null ? "is not an address" : "holds credentials, which an address may not have";
    throw usageError(
      `--agent-card: ${url === null ? `"${text}"` : url.host} ${why}`,
      "give a host such as agent.example.com, a URL, a file, or a name in a2a.config.yaml",
    );
  }
  return text;
}

async function requireFile(path: string): Promise<string> {
  const found = await look(path);
  if (isReadable(found)) return path;
  const problem = found?.isDirectory() === true ? `${path} is a directory` : `there is no file ${path}`;
  throw new CliError("A2ACLI_ERR_CARD_NOT_FOUND", problem, {
    hint: "give the card's path, its URL, or the agent's host",
  });
}

/** Files, and what a shell makes of `<(…)`. */
function isReadable(found: Stats | undefined): boolean {
  return found?.isFile() === true || found?.isFIFO() === true || found?.isCharacterDevice() === true;
}

function look(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

/** Largest card that is read; the client's limit for fetched ones. */
export const maxCardBytes: number = 1024 * 1024;

/**
 * The text of a card that is in a file, or comes from the standard input. Bytes that are no UTF-8 have none that all readers would
 * agree on. @throws CliError CARD_NOT_FOUND for a file that cannot be read, else CARD_INVALID
 */
export async function readCardInput(
  source: string | CliIo["stdin"],
  name: string,
  signal?: AbortSignal,
): Promise<string> {
  const bytes = await readInput(source, name, maxCardBytes, {
    signal,
    refuse: (message, hint, cause) => {
      const isLost = cause !== undefined && typeof source === "string";
      const code = isLost ? "A2ACLI_ERR_CARD_NOT_FOUND" : "A2ACLI_ERR_CARD_INVALID";
      return new CliError(code, message, { hint, cause });
    },
  });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CliError("A2ACLI_ERR_CARD_INVALID", `${name} is not UTF-8`);
  }
}
