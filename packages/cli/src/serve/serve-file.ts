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
import { type OperatorLog, parsePublicUrl } from "@a2a-connect/server/internal";
import { usageError } from "../cli-error.ts";
import { commandLine } from "../commands-to-copy.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { readServerConfig, type ServerConfig } from "../settings/book.ts";
import { announceSigning, readCardSigning, type SigningFlags } from "./card-signing.ts";
import { loadAgents } from "./load-agent.ts";
import { announceAgents, offerCommands, runServer } from "./run-server.ts";

export interface ServeFlags extends SigningFlags {
  readonly port?: number;
  readonly host?: string;
  /** Everyone may call who can reach the host. */
  readonly open?: boolean;
  /** Credentials that callers need, as `parseAuthFlag` reads them. */
  readonly auth?: string;
  /** A proxy in front of it has the TLS. */
  readonly cleartext?: boolean;
  /** Whose `X-Forwarded-*` and `Forwarded` count. */
  readonly trustedProxy?: readonly string[];
  readonly db?: string;
  readonly store?: "sqlite" | "memory";
  readonly publicUrl?: string;
  readonly watch?: boolean;
  /** Whether callers of A2A 0.3 are answered. */
  readonly olderVersions?: boolean;
  /** How long running work may go on when the server is told to stop. */
  readonly grace?: number;
}

type Served = Pick<ServedAgent, "url" | "card">;

/** Serves the agents of a module until the user interrupts. */
export async function serveFile(context: CommandContext, file: string, flags: ServeFlags): Promise<void> {
  const { io, output } = context;
  const loaded = await loadAgents(file, io.cwd);
  const config = await readServerConfig(io);
  const keys = await readCardSigning(flags, io);
  const signing = keys && { keys: keys.map(({ option }) => option) };
  const place = placeOf(flags, config);
  const gate = flags.auth ?? (flags.open === true ? undefined : config?.auth);
  const auth = gate === undefined ? undefined : await readAuth(context, gate, place);
  const options = { ...place, ...defined({ auth, signing }), shutdown: false } as const;
  const store = flags.db ?? flags.store ?? config?.store;
  const versions = flags.olderVersions === false ? { protocolVersions: ["1.0"] } : {};
  const isOne = loaded.kind === "one";
  const several = isOne ? {} : withOptions(loaded.agents, store, versions);
  const start = async (log: OperatorLog) => {
    if (!isOne) return await serve(several, { ...options, log });
    const served = await serve(loaded.agent, { ...options, ...versions, ...storeOptions(store), log });
    return { url: served.url, agents: { "": served }, close: served.close };
  };
  const run = { port: options.port, graceMs: flags.grace ?? 30_000 };
  await runServer(context, run, start, async ({ url, agents }) => {
    const served = Object.values<Served>(agents);
    const cards = Object.entries<Served>(agents).map(([name, { card }]) => [
      name,
      formatMessage(AgentCardSchema, card),
    ]);
    await output.document(isOne ? cards[0]?.[1] : { agents: Object.fromEntries(cards) });
    await announceAgents(output, served);
    if (!isOne) await output.field("Catalog", `${url}/.well-known/ai-catalog.json`);
    const all = served.map(({ card }) => card);
    if (keys !== undefined) await announceSigning(output, keys, { ...options, url }, all);
    const [first] = isOne ? [loaded.agent] : Object.values(loaded.agents);
    await offerCommands(output, served[0] && first ? commandsToTry(context, served[0], first) : []);
  });
}

/** Flags before the configuration file before the defaults. */
function placeOf(
  { port, host, open, cleartext, publicUrl, trustedProxy: trustedProxies }: ServeFlags,
  config: ServerConfig | undefined,
): Pick<ServeOptions, "cleartext" | "host" | "open" | "publicUrl" | "trustedProxies"> & {
  readonly port: number;
} {
  // Another port than that of a URL on this machine makes the URL wrong.
  const moved = port !== undefined && config?.port !== undefined && port !== config.port;
  const url = publicUrl ?? (moved ? undefined : config?.url);
  return {
    port: port ?? config?.port ?? 4000,
    ...defined({ host, open, cleartext, trustedProxies, publicUrl: url && readPublicUrl(url) }),
  };
}

function readPublicUrl(url: string): string {
  try {
    return parsePublicUrl(url);
  } catch (error) {
    throw wrongFlag(error, "--public-url: ");
  }
}

function wrongFlag(error: unknown, subject: string = ""): unknown {
  return error instanceof Error ? usageError(subject + error.message, undefined, error) : error;
}

/** @throws CliError USAGE when the flag is wrong, or its file cannot be read */
async function readAuth(
  { output }: CommandContext,
  flag: string,
  { publicUrl, port }: Pick<ServeOptions, "publicUrl"> & { readonly port: number },
): Promise<NonNullable<ServeOptions["auth"]>> {
  const audience = publicUrl ?? `http://localhost:${port}`;
  const say = (sentence: string): void => void output.note(sentence).catch(() => {}); // stderr is gone
  return await parseAuthFlag(flag, { audience, say }).catch((error: unknown) => {
    throw wrongFlag(error);
  });
}

function storeOptions(store: string | undefined): Pick<ServeOptions, "file" | "store"> {
  if (store === "memory") return { store: createMemoryTaskStore() };
  return store === undefined || store === "sqlite" ? {} : { file: store };
}

/** The same for several agents, which never share a store: a file for each, or all in memory. */
function withOptions(
  agents: Readonly<Record<string, AgentDefinition>>,
  store: string | undefined,
  versions: Pick<ServeOptions, "protocolVersions">,
): Readonly<Record<string, AgentToServe>> {
  const { file } = storeOptions(store);
  if (file !== undefined) {
    throw usageError(
      `${file} is one file, but each of ${Object.keys(agents).length} agents needs its own`,
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
