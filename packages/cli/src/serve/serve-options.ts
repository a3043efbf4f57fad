import type { AgentToServe, ServeAgentsOptions, ServeOptions } from "@a2a-connect/node";
import { type AgentDefinition, createMemoryTaskStore } from "@a2a-connect/server";
import { usageError } from "../cli-error.ts";
import { defined } from "../json.ts";
import type { ServerConfig } from "../settings/book.ts";

/** Where `a2a serve` listens when nobody says. */
export const servePort = 4000;

/** A key that signs no more, and until when it verifies. */
export interface RetiredKey {
  readonly file: string;
  readonly until: Date;
}

/** What `a2a serve` may be told on the command line. */
export interface ServeFlags {
  readonly port?: number;
  readonly host?: string;
  /** File of the task store. */
  readonly db?: string;
  readonly store?: "sqlite" | "memory";
  /** Where callers reach it, without a trailing slash. */
  readonly publicUrl?: string;
  /** Files of the private keys that sign the card. */
  readonly signKey?: readonly string[];
  /** Keys that have signed it. */
  readonly retiredKey?: readonly RetiredKey[];
  readonly watch?: boolean;
}

/** Flags before the configuration file before the defaults. */
export function toServeOptions(flags: ServeFlags, config: ServerConfig | undefined): ServeOptions {
  // Another port than that of a URL on this machine makes the URL wrong.
  const moved = flags.port !== undefined && config?.port !== undefined && flags.port !== config.port;
  const publicUrl = flags.publicUrl ?? (moved ? undefined : config?.url);
  const file = flags.db ?? (flags.store === undefined ? config?.store : flags.store);
  return {
    port: flags.port ?? config?.port ?? servePort,
    ...defined({ host: flags.host, publicUrl }),
    ...storeOptions(file),
  };
}

/** Several agents with a store each, and what they are told together. */
export interface AgentsToServe {
  readonly agents: Readonly<Record<string, AgentToServe>>;
  readonly options: ServeAgentsOptions;
}

/**
 * The same for several agents, which never share a store: a file for each, or all in memory.
 *
 * @throws CliError USAGE when a flag or the configuration names one file for all
 */
export function toAgentsToServe(
  agents: Readonly<Record<string, AgentDefinition>>,
  flags: ServeFlags,
  config: ServerConfig | undefined,
): AgentsToServe {
  const { file, store, ...options } = toServeOptions(flags, config);
  if (file !== undefined) {
    throw usageError(
      `${file} is one file, and each of ${Object.keys(agents).length} agents has its own`,
      "leave --db out: they are .a2a/<name>.sqlite; or serve all from memory with --store memory",
    );
  }
  const stored = Object.entries(agents).map(([name, agent]): [string, AgentToServe] => [
    name,
    store === undefined ? { agent } : { agent, store: createMemoryTaskStore() },
  ]);
  return { agents: Object.fromEntries(stored), options };
}

/** @param store `memory`, `sqlite` for a file by the agent's name, or a file */
function storeOptions(store: string | undefined): Pick<ServeOptions, "file" | "store"> {
  switch (store) {
    case "memory":
      return { store: createMemoryTaskStore() };
    case "sqlite":
    case undefined:
      return {};
    default:
      return { file: store };
  }
}
