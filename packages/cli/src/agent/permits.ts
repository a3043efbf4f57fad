import { once } from "node:events";
import { readFile, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";
import { createInterface } from "node:readline/promises";
import { isDeepStrictEqual } from "node:util";
import { usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { parseJson } from "../json.ts";
import { environmentName } from "../options.ts";
import type { Output } from "../output.ts";
import { isOwn, mayReceive, type Provenance, weaker } from "../settings/provenance.ts";
import type { ResolvedSettings, SettingOrigin } from "../settings/resolve.ts";
import { isCredentialName } from "../wire-log/masking.ts";
import { keepPrivately } from "../write-file.ts";
import { type AgentSettings, type ResolvedAgent, resolveAgent } from "./agent-settings.ts";
import type { CardReference } from "./reference.ts";

/** An agent that a reference leads to. */
export interface LocatedAgent extends ResolvedAgent {
  readonly reference: CardReference;
  readonly named: NamedAgent;
  /** Credentials that it may have only when the user allows it. */
  readonly stray: readonly HeldCredential[];
}

/**
 * What a reference leads to, what holds for that agent, and which credentials would go to it although its source is trusted less than theirs, or
 * is none that they came with. @param given what holds the reference
 */
export async function locateAgent(
  resolved: Pick<ResolvedSettings, "origins" | "settings">,
  text: string | undefined,
  given: Provenance,
  io: CliIo,
): Promise<LocatedAgent> {
  // Not before there is an agent: it loads what reads YAML.
  const { resolveCardReference } = await import("./reference.ts");
  const reference = await resolveCardReference(text, io);
  const entry = reference.kind === "url" ? reference.entry : undefined;
  const { settings, origins } = resolveAgent(resolved, entry);
  const named = findNamer(reference, given, io);
  const hold = (
    kind: HeldCredential["kind"],
    origin: SettingOrigin | undefined,
  ): readonly HeldCredential[] => {
    if (origin?.value === undefined) return [];
    const { option, source, where } = origin;
    // A credential of the agent's own is from the variable that `a2a.config.yaml` names.
    const own = source === "found-file" ? entry?.secretName : undefined;
    return [own ? fromVariable(kind, own) : { kind, name: environmentName(option.flag), source, where }];
  };
  const hasParameters = Object.keys(resolved.settings.serviceParameters).some(isCredentialName);
  const held = [
    ...hold("bearer", origins.get("bearer")),
    ...hold("api-key", origins.get("api-key")),
    ...(settings.client && entry?.secretName ? [fromVariable("client", entry.secretName)] : []),
    ...(hasParameters ? hold("parameter", resolved.origins.get("svc-param")) : []),
  ];
  const stray: HeldCredential[] = [];
  for (const credential of held) {
    if (!mayReceive(named.source, credential.source) || !(await isBeside(credential, named))) {
      stray.push(credential);
    }
  }
  return { reference, settings, origins, named, stray };
}

function fromVariable(kind: HeldCredential["kind"], name: string): HeldCredential {
  return { kind, name, source: "environment", where: name };
}

/** The agent that credentials would go to, and what says that it is this one. */
export interface NamedAgent extends Provenance {
  /** The folder of the file that says so. */
  readonly directory: string;
  /** Its origin, or the path of its card. */
  readonly agent: string;
}

/** A credential that the settings hold. */
export interface HeldCredential extends Provenance {
  readonly kind: "bearer" | "api-key" | "client" | "parameter";
  /** Its variable, wherever it is from. */
  readonly name: string;
}

function findNamer(reference: CardReference, given: Provenance, { cwd }: Pick<CliIo, "cwd">): NamedAgent {
  if (reference.kind === "file") {
    const { path, isFound } = reference;
    const isTyped = given.source === "flag" && !isFound;
    const source = isTyped ? given.source : weaker(given.source, "found-file");
    return { source, where: path, directory: dirname(path), agent: path };
  }
  const { entry, url } = reference;
  const agent = new URL(url).origin;
  if (entry === undefined) {
    return { ...given, directory: given.source === "found-env" ? dirname(given.where) : cwd, agent };
  }
  const source = weaker(given.source, "found-file");
  return { source, where: entry.where, directory: entry.directory, agent };
}

/**
 * Whether a credential of a found `.env` came with the found file that names the agent: it is the same file, or lies in that one's
 * folder or below. One further up may be the user's own, above a project of another author; so may the file that a link
 * leads to.
 */
async function isBeside({ source, where }: Provenance, named: NamedAgent): Promise<boolean> {
  if (source !== "found-env" || isOwn(named.source) || where === named.where) return true;
  const way = relative(await realpath(named.directory), await realpath(where));
  return !way.startsWith("..") && !isAbsolute(way); // absolute: on another drive
}

/**
 * Which credentials may go to an agent although they are trusted more than what names it: those of `--allow-credential`, and those
 * that the user was asked about. An answer holds for the folder of the file that names the agent, the credential's name and the
 * agent's origin; the file below `~/.local/state/a2a-cli` that remembers it is for its owner alone.
 */
export class CredentialPermits {
  readonly #io: CliIo;
  readonly #output: Output;
  readonly #allowed: readonly string[];
  /** Several agents may be opened at a time, and there is one terminal. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(io: CliIo, output: Output, allowed: readonly string[]) {
    this.#io = io;
    this.#output = output;
    this.#allowed = allowed;
  }

  /** The settings without what the agent may not have without a question; a warning says what that is. */
  async withhold({ settings, named, stray }: LocatedAgent): Promise<AgentSettings> {
    const kinds = new Set<HeldCredential["kind"]>();
    for (const credential of stray) {
      if (await this.#allows(credential, named)) continue;
      kinds.add(credential.kind);
      await this.#output.warn(`${sayRefusal(credential, named)} (--allow-credential ${credential.name})`);
    }
    const harmless = Object.entries(settings.serviceParameters).filter(([name]) => !isCredentialName(name));
    return {
      ...settings,
      bearer: kinds.has("bearer") ? undefined : settings.bearer,
      apiKey: kinds.has("api-key") ? undefined : settings.apiKey,
      client: kinds.has("client") ? undefined : settings.client,
      serviceParameters: kinds.has("parameter") ? Object.fromEntries(harmless) : settings.serviceParameters,
    };
  }

  /** @throws CliError USAGE where it may not go there, and no terminal allows it */
  async require(credential: HeldCredential, named: NamedAgent, signal: AbortSignal): Promise<void> {
    const work = this.#last.then(() => this.#require(credential, named, signal));
    this.#last = work.catch(() => {}); // its caller hears of it
    await work;
  }

  async #allows({ name }: HeldCredential, named: NamedAgent): Promise<boolean> {
    if (this.#allowed.includes(name)) return true;
    const permit = await toPermit(name, named);
    return (await readPermits(this.#path)).some((known) => isDeepStrictEqual(known, permit));
  }

  async #require(credential: HeldCredential, named: NamedAgent, signal: AbortSignal): Promise<void> {
    if (await this.#allows(credential, named)) return;
    const { stdin, stderr } = this.#io;
    if (stdin.isTTY === true && stderr.isTerminal && (await this.#ask(credential, named, signal))) {
      await this.#remember(await toPermit(credential.name, named));
      return;
    }
    throw usageError(
      sayRefusal(credential, named),
      `to send it in this call, add --allow-credential ${credential.name}, or name the agent by its URL (-a); at a terminal a2a asks you instead, once per folder`,
    );
  }

  async #ask({ name }: HeldCredential, { agent, where }: NamedAgent, signal: AbortSignal): Promise<boolean> {
    await this.#output.note(`The address ${agent} comes from ${where}, not from you. Send ${name} there?`);
    await this.#output.note(
      "a2a remembers your yes for this folder, credential and agent. Answer yes or no:",
    );
    using lines = createInterface({ input: this.#io.stdin, terminal: false });
    const ended = once(lines, "close", { signal }).then(() => "");
    const answer = await Promise.race([lines.question("", { signal }), ended]);
    return /^y(?:es)?$/i.test(answer.trim());
  }

  get #path(): string {
    return join(this.#io.home, ".local", "state", "a2a-cli", "allowed-credentials.json");
  }

  async #remember(permit: Permit): Promise<void> {
    const permits = [...(await readPermits(this.#path)), permit];
    await keepPrivately(this.#path, JSON.stringify(permits, null, 1), this.#io);
  }
}

function sayRefusal({ name, where: from }: HeldCredential, { where, agent }: NamedAgent): string {
  const origin = from === name ? "" : ` (${from})`;
  return `${name}${origin} is not sent to ${agent}: that address comes from ${where}, not from you`;
}

type Permit = Pick<NamedAgent, "directory" | "agent"> & { readonly credential: string };

async function toPermit(credential: string, { directory, agent }: NamedAgent): Promise<Permit> {
  return { directory: await realpath(directory), credential, agent };
}

/** A file that is not there, or is damaged, allows nothing. */
async function readPermits(path: string): Promise<readonly Permit[]> {
  const permits = parseJson(await readFile(path, "utf8").catch(() => ""));
  return Array.isArray(permits) ? permits : [];
}
