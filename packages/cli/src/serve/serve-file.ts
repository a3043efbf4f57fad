import { formatMessage } from "@a2a-connect/core/internal";
import {
  type AgentToServe,
  parseAuthFlag,
  type ServedAgent,
  type ServeOptions,
  serve,
} from "@a2a-connect/node";
import { AgentCardSchema } from "@a2a-connect/proto";
import { type AgentDefinition, createMemoryTaskStore } from "@a2a-connect/server";
import type { OperatorLog } from "@a2a-connect/server/internal";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { readServerConfig, type ServerConfig } from "../settings/book.ts";
import { commandLine } from "../task/hints.ts";
import { announceSigning, readCardSigning, type SigningFlags } from "./card-signing.ts";
import { loadAgents } from "./load-agent.ts";
import { announceAgents, offerCommands, runServer } from "./run-server.ts";

/** What `a2a serve` may be told on the command line. */
export interface ServeFlags extends SigningFlags {
  readonly port?: number;
  readonly host?: string;
  /** Everyone may call who can reach the host. */
  readonly open?: boolean;
  /** Credentials that callers need, as `parseAuthFlag` reads them. */
  readonly auth?: string;
  /** A proxy in front of it has the TLS. */
  readonly cleartext?: boolean;
  /** File of the task store. */
  readonly db?: string;
  readonly store?: "sqlite" | "memory";
  /** Where callers reach it, without a trailing slash. */
  readonly publicUrl?: string;
  readonly watch?: boolean;
  /** Whether callers of A2A 0.3 are answered. */
  readonly olderVersions?: boolean;
  /** How long running work may go on when the server is told to stop. */
  readonly grace?: number;
}

/** An agent that can be reached by now. */
type Served = Pick<ServedAgent, "url" | "card">;

/**
 * Serves the agents of a module until the user interrupts.
 *
 * @throws CliError when the module exports no agent, the configuration is wrong, or the port or a file cannot be had
 */
export async function serveFile(context: CommandContext, file: string, flags: ServeFlags): Promise<void> {
  const { io, output } = context;
  const loaded = await loadAgents(file, io.cwd);
  const config = await readServerConfig(io);
  const signing = await readCardSigning(flags, io);
  const place = placeOf(flags, config);
  const gate = flags.auth ?? (flags.open === true ? undefined : config?.auth);
  const auth = gate === undefined ? undefined : await readAuth(context, gate, place);
  const options = { ...place, ...signing?.options, ...defined({ auth }), shutdown: false } as const;
  const run = { port: options.port, graceMs: flags.grace ?? defaultGraceMs };
  const store = flags.db ?? flags.store ?? config?.store;
  const versions = flags.olderVersions === false ? { protocolVersions: ["1.0"] } : {};
  const announce = async (agents: readonly Served[], url: string, first: AgentDefinition | undefined) => {
    await announceAgents(output, agents);
    if (loaded.kind === "several") await output.field("Catalog", `${url}/.well-known/ai-catalog.json`);
    const cards = agents.map(({ card }) => card);
    if (signing !== undefined) await announceSigning(output, signing, { ...options, url }, cards);
    await offerCommands(output, agents[0] && first ? commandsToTry(context, agents[0], first) : []);
  };
  if (loaded.kind === "one") {
    const start = (log: OperatorLog) =>
      serve(loaded.agent, { ...options, ...versions, ...storeOptions(store), log });
    return await runServer(context, run, start, async (served) => {
      await output.document(formatMessage(AgentCardSchema, served.card));
      await announce([served], served.url, loaded.agent);
    });
  }
  const agents = withOptions(loaded.agents, store, versions);
  const start = (log: OperatorLog) => serve(agents, { ...options, log });
  await runServer(context, run, start, async (served) => {
    const cards = Object.entries(served.agents).map(([name, { card }]) => [
      name,
      formatMessage(AgentCardSchema, card),
    ]);
    await output.document({ agents: Object.fromEntries(cards) });
    await announce(Object.values(served.agents), served.url, Object.values(loaded.agents)[0]);
  });
}

/** Where it listens when neither the command line nor the configuration says. */
const servePort = 4000;

/** As `serve` of the library. */
const defaultGraceMs = 30_000;

/** Flags before the configuration file before the defaults. */
function placeOf(
  { port, host, open, cleartext, publicUrl }: ServeFlags,
  config: ServerConfig | undefined,
): Pick<ServeOptions, "cleartext" | "host" | "open" | "publicUrl"> & { readonly port: number } {
  // Another port than that of a URL on this machine makes the URL wrong.
  const moved = port !== undefined && config?.port !== undefined && port !== config.port;
  const url = publicUrl ?? (moved ? undefined : config?.url);
  return { port: port ?? config?.port ?? servePort, ...defined({ host, open, cleartext, publicUrl: url }) };
}

/** @throws CliError USAGE when the flag is wrong, or its file cannot be read */
async function readAuth(
  { output }: CommandContext,
  flag: string,
  { publicUrl, port }: Pick<ServeOptions, "publicUrl"> & { readonly port: number },
): Promise<NonNullable<ServeOptions["auth"]>> {
  const made: string[] = [];
  const audience = publicUrl ?? `http://localhost:${port}`;
  try {
    return await parseAuthFlag(flag, { audience, say: (sentence) => made.push(sentence) });
  } catch (error) {
    throw error instanceof Error ? usageError(error.message, undefined, error) : error;
  } finally {
    for (const sentence of made) await output.note(sentence);
  }
}

/** @param store `memory`, `sqlite` for a file by the agent's name, or a file */
function storeOptions(store: string | undefined): Pick<ServeOptions, "file" | "store"> {
  if (store === "memory") return { store: createMemoryTaskStore() };
  return store === undefined || store === "sqlite" ? {} : { file: store };
}

/**
 * The same for several agents, which never share a store: a file for each, or all in memory.
 *
 * @throws CliError USAGE when a flag or the configuration names one file for all
 */
function withOptions(
  agents: Readonly<Record<string, AgentDefinition>>,
  store: string | undefined,
  versions: Pick<ServeOptions, "protocolVersions">,
): Readonly<Record<string, AgentToServe>> {
  const { file } = storeOptions(store);
  if (file !== undefined) {
    throw usageError(
      `${file} is one file, and each of ${Object.keys(agents).length} agents needs its own`,
      "leave --db out: the files are then .a2a/<name>.sqlite; or keep tasks in memory with --store memory",
    );
  }
  return Object.fromEntries(
    Object.entries(agents).map(([name, agent]) => [name, { agent, ...versions, ...storeOptions(store) }]),
  );
}

/** What holds for one agent holds for each. */
function commandsToTry(
  { settings }: CommandContext,
  { url }: Served,
  { card: { skills } }: AgentDefinition,
): readonly string[] {
  const here = { ...settings, agentCard: url };
  return [
    commandLine(here, ["card", "get"], []),
    commandLine(here, ["send"], [skills?.[0]?.examples?.[0] ?? "hello"]),
    commandLine(here, ["chat"], []),
    commandLine(here, ["doctor"], []),
  ];
}
