import { CardNotFoundError } from "@a2a-connect/client";
import { protocolVersion, untilAborted } from "@a2a-connect/core/internal";
import { type NodeConnectOptions, nodePlatform } from "@a2a-connect/node/client";
import type { CliIo } from "../cli-io.ts";
import { defined } from "../json.ts";
import type { Output } from "../output.ts";
import type { ResolvedSettings } from "../settings/resolve.ts";
import { WireLog } from "../wire-log/wire-log.ts";
import type { AgentSettings } from "./agent-settings.ts";
import { type CallHeaders, createCallHeaders } from "./credential-places.ts";
import { type CredentialPermits, type LocatedAgent, locateAgent, type Provenance } from "./permits.ts";
import { nameHint, readCardFile, resolveCardReference } from "./reference.ts";

/** What an agent is opened with. */
export interface AgentSituation {
  readonly io: CliIo;
  readonly output: Output;
  readonly resolved: ResolvedSettings;
  /** The agent: `--agent-card`, or an argument. */
  readonly reference: string | undefined;
  /** What holds the reference. */
  readonly referenceOrigin: Provenance;
  readonly permits: CredentialPermits;
  readonly signal: AbortSignal;
  /** Told which settings apply to this agent. */
  adopt(settings: AgentSettings): void;
}

/** A card that is to be fetched, or was read from a file and not looked at yet. */
export type CardTarget =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "file"; readonly path: string; readonly text: string };

/** Everything that is needed to connect to one agent. To be closed when that fails; afterwards the client does. */
export interface AgentConnection extends LocatedAgent {
  /** Where the card is, or the text of the file that it was in. */
  readonly target: CardTarget;
  readonly options: NodeConnectOptions;
  readonly calls: CallHeaders;
  close(): Promise<void>;
}

/**
 * Finds out what the reference means, and how the settings say to get there.
 *
 * @throws CliError USAGE, CARD_NOT_FOUND, CARD_INVALID
 */
export async function prepareConnection(situation: AgentSituation): Promise<AgentConnection> {
  const { io, output, resolved } = situation;
  const reference = await resolveCardReference(situation.reference, io);
  const agent = await locateAgent(resolved, reference, situation.referenceOrigin, io);
  const { settings } = agent;
  situation.adopt(settings);
  if (settings.insecure) {
    await output.warn(
      "TLS certificates are not verified (--insecure): an attacker on the network can read and change everything",
    );
  }
  if (reference.kind === "url" && hasLostQuery(reference.url)) {
    await output.warn(
      "calls do not carry the query of the address (the text after the ?); to send credentials use --api-key, --bearer or --svc-param",
    );
  }
  const target: CardTarget =
    reference.kind === "url" ? reference : { ...reference, text: await readCardFile(reference.path) };
  const calls = createCallHeaders(settings.serviceParameters);
  const tls = settings.insecure ? { insecure: true } : {};
  const platform = nodePlatform({
    tls,
    ...(reference.kind === "url" ? { cardUrl: new URL(reference.url) } : {}),
  });
  const log = settings.debug ? new WireLog(io.stderr, settings) : undefined;
  const fetch = platform.fetch ?? globalThis.fetch;
  return {
    ...agent,
    target,
    calls,
    options: {
      ...defined({
        pinVersion: settings.a2aVersion,
        protocolVersions: [protocolVersion], // below it only what the user names (a2a-cli §13.2)
        pinBinding: settings.pinBinding,
        expect: settings.cardVersion === undefined ? undefined : { cardVersion: settings.cardVersion },
      }),
      fetch: log?.wrapFetch(fetch) ?? fetch,
      tls,
      platform: log?.wrapPlatform(platform) ?? platform,
      onWarning: (warning) => {
        output.warn(warning).catch(() => {}); // stderr may have no reader
      },
    },
    close: () => platform.close(),
  };
}

/** Whether the user may have meant a query for the agent. Behind the address of a card itself it is for the card. */
function hasLostQuery(address: string): boolean {
  const { search, pathname } = URL.parse(address) ?? { search: "", pathname: "" };
  return search !== "" && !pathname.endsWith(".json") && !pathname.includes("/.well-known/");
}

/** For an unknown name, the hint says which names there are, or where they are listed. */
export async function withNameHint(error: unknown, { io, reference }: AgentSituation): Promise<unknown> {
  const hint =
    error instanceof CardNotFoundError ? ((await nameHint(reference, io)) ?? catalogHint(error)) : undefined;
  return error instanceof CardNotFoundError && hint !== undefined
    ? new CardNotFoundError(error.url, error.message, { hint, cause: error.cause })
    : error;
}

/** A server of several agents has no card of its own. */
function catalogHint({ url, message, hint }: CardNotFoundError): string | undefined {
  const origin = message.includes("has no card (HTTP 404)") ? URL.parse(url)?.origin : undefined;
  return origin === undefined
    ? undefined
    : `${hint ?? "Check the address."} A server with several agents lists them in ${origin}/.well-known/ai-catalog.json; each has a card at its own URL.`;
}

/** What `work` opens, unless the signal is aborted first: then its reason, and what comes too late is closed. */
export async function openUntilAborted<T extends AsyncDisposable>(
  signal: AbortSignal,
  work: Promise<T>,
): Promise<T> {
  try {
    return await untilAborted(work, signal);
  } catch (error) {
    if (signal.aborted) {
      work.then(
        (late) => late[Symbol.asyncDispose](),
        () => {}, // no caller waits for it any more
      );
    }
    throw error;
  }
}
