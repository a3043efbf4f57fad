import type { CredentialSource } from "@a2a-connect/auth/client";
import { type AgentClient, CardNotFoundError, NoInterfaceError } from "@a2a-connect/client";
import { findCardText, readCard } from "@a2a-connect/client/internal";
import { isLoopbackHost, protocolVersion, shownUrl, untilAborted } from "@a2a-connect/core/internal";
import { connectAgent, type NodeConnectOptions, nodePlatform } from "@a2a-connect/node/client";
import type { AgentCard } from "@a2a-connect/proto";
import { findTokenSource } from "../auth/logins.ts";
import type { CliIo } from "../cli-io.ts";
import { defined } from "../json.ts";
import type { Output } from "../output.ts";
import { knownAgentsHint } from "../settings/book.ts";
import type { Provenance } from "../settings/provenance.ts";
import type { ResolvedSettings, Settings } from "../settings/resolve.ts";
import { WireLog } from "../wire-log/wire-log.ts";
import type { AgentSettings } from "./agent-settings.ts";
import { findCardVerifier, requireVerified } from "./card-verifier.ts";
import { addCallHeaders, type CredentialPlan, planCredentials, queryOver } from "./credential-places.ts";
import { type CredentialPermits, locateAgent } from "./permits.ts";
import { type CardReference, readCardInput } from "./reference.ts";

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

export interface FoundCard {
  /** Its JSON, byte for byte. */
  readonly text: string;
  /** Where it came from, after redirects; undefined for a file, and for what did not come by itself. */
  readonly url: string | undefined;
  /** The address that was asked for it. */
  readonly asked: string | undefined;
  readonly settings: AgentSettings;
  /** What it says. @throws CardInvalidError when it cannot be used */
  readonly read: () => AgentCard | Promise<AgentCard>;
}

/** Connects to an agent as the settings say, with the credentials that its card wants. @param keys in place of `--card-key` */
export async function openAgent(
  situation: AgentSituation,
  { keys, ...options }: NodeConnectOptions & { readonly keys?: readonly string[] | undefined } = {},
): Promise<AgentClient> {
  const { io, output, signal, permits } = situation;
  const { reference, settings, named, stray, platform, fetch } = await prepare(situation);
  let plan: CredentialPlan = { places: [], isDeclared: true }; // of tokens, and until the user allows another
  let tokens: CredentialSource | undefined;
  try {
    const text = reference.kind === "file" ? await readCardInput(reference.path, reference.path) : undefined;
    const given =
      text === undefined
        ? undefined
        : { text, card: await readWithWarnings(text, namePlace(reference), output) };
    const verify = await findCardVerifier(settings, io, keys);
    const judge = verify && requireVerified(verify, given);
    const connect = (choice: NodeConnectOptions): Promise<AgentClient> =>
      connectAgent(given?.card ?? namePlace(reference), {
        ...defined({
          pinVersion: settings.a2aVersion,
          pinBinding: settings.pinBinding,
          expect: settings.cardVersion === undefined ? undefined : { cardVersion: settings.cardVersion },
        }),
        protocolVersions: [protocolVersion], // below it only what the user names (a2a-cli §13.2)
        fetch,
        tls: { insecure: settings.insecure },
        platform,
        onWarning: (warning) => warnQuietly(output, warning),
        ...options,
        auth: {
          forCall: async (call) =>
            tokens?.forCall(call) ?? {
              headers: {},
              query: queryOver(call.interface.protocolBinding, plan),
            },
          refused: (call, sent) => tokens?.refused(call, sent) === true,
        },
        interceptors: [
          addCallHeaders(settings.serviceParameters, () => plan),
          ...(options.interceptors ?? []),
        ],
        verifyCard: async (received) => {
          await judge?.(received);
          await options.verifyCard?.(received);
        },
        ...choice,
      });
    const agent = await connectPreferably(settings.transports, (choice) =>
      openUntilAborted(signal, connect(choice)),
    );
    const home = new URL(reference.kind === "url" ? reference.url : agent.interface.url).origin;
    tokens = await findTokenSource(agent.card, home, settings, io);
    const wanted = tokens === undefined ? planCredentials(agent.card, settings) : plan;
    for (const held of stray) {
      // Service parameters go with every call.
      const isSent =
        held.kind === "parameter" || wanted.places.some(({ credential }) => credential === held.kind);
      const isUsed = held.kind === "client" ? tokens !== undefined : isSent;
      if (isUsed) await permits.require(held, named, signal);
    }
    plan = wanted;
    await warnAboutExposure(output, settings, plan, agent.interface.url);
    return agent;
  } catch (error) {
    await platform.close();
    throw await withNameHint(error, situation);
  }
}

/** Fetches or reads a card, whether or not it is a good one, and whether or not this command could call the agent. */
export async function receiveCard(situation: AgentSituation): Promise<FoundCard> {
  const { reference, settings, platform, fetch } = await prepare(situation);
  const reader = (text: string, what: string) => () => readWithWarnings(text, what, situation.output);
  try {
    if (reference.kind === "file") {
      const text = await readCardInput(reference.path, reference.path);
      return { text, url: undefined, asked: undefined, settings, read: reader(text, reference.path) };
    }
    const { url: asked } = reference;
    const { text, url } = await findCardText(
      asked,
      { fetch, platform, onWarning: (warning) => warnQuietly(situation.output, warning) },
      situation.signal,
    );
    return { text, url, asked, settings, read: reader(text, `The card at ${shownUrl(url)}`) };
  } catch (error) {
    throw await withNameHint(error, situation);
  } finally {
    await platform.close();
  }
}

/** What is needed to reach one agent. The platform is to be closed when that fails; afterwards the client does. */
async function prepare(situation: AgentSituation) {
  const { io, output, resolved } = situation;
  const agent = await locateAgent(resolved, situation.reference, situation.referenceOrigin, io);
  const { reference, settings } = agent;
  situation.adopt(settings);
  if (settings.insecure) {
    await output.warn(
      "TLS certificates are not verified (--insecure): an attacker on the network can read and change everything",
    );
  }
  const cardUrl = reference.kind === "url" ? new URL(reference.url) : undefined;
  if (cardUrl !== undefined && hasLostQuery(cardUrl)) {
    await output.warn(
      "a2a does not send the query of the address (the text after the ?) in calls; to send credentials, use --api-key, --bearer or --svc-param",
    );
  }
  const platform = nodePlatform({ tls: { insecure: settings.insecure }, ...defined({ cardUrl }) });
  const { fetch = globalThis.fetch } = platform;
  if (!settings.debug) return { ...agent, platform, fetch };
  const log = new WireLog(io.stderr, settings);
  return { ...agent, platform: log.wrapPlatform(platform), fetch: log.wrapFetch(fetch) };
}

/** Whether the user may have meant a query for the agent. Behind the address of a card itself it is for the card. */
function hasLostQuery({ search, pathname }: URL): boolean {
  return search !== "" && !pathname.endsWith(".json") && !pathname.includes("/.well-known/");
}

function namePlace(reference: CardReference): string {
  return reference.kind === "url" ? reference.url : reference.path;
}

/** The card that a text is; what is odd about it is a warning. @param what names it @throws CardInvalidError */
async function readWithWarnings(text: string, what: string, output: Output): Promise<AgentCard> {
  const { card, warnings } = await readCard(text, what);
  for (const warning of warnings) warnQuietly(output, warning);
  return card;
}

/** Stderr may have no reader. */
function warnQuietly(output: Output, warning: string): void {
  output.warn(warning).catch(() => {});
}

/** For an unknown name, the hint says which names there are, or where they are listed. */
async function withNameHint(error: unknown, { io, reference }: AgentSituation): Promise<unknown> {
  if (!(error instanceof CardNotFoundError)) return error;
  const hint = (await knownAgentsHint(io, reference)) ?? catalogHint(error);
  return hint === undefined
    ? error
    : new CardNotFoundError(error.url, error.message, { hint, cause: error.cause });
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

/** By the user's order; when the card has none of these bindings, by the card's (a2a-cli §13.1). */
async function connectPreferably(
  preferred: readonly string[],
  connectWith: (choice: { readonly bindings?: readonly string[] }) => Promise<AgentClient>,
): Promise<AgentClient> {
  if (preferred.length === 0) return await connectWith({});
  try {
    return await connectWith({ bindings: preferred });
  } catch (error) {
    if (error instanceof NoInterfaceError) return await connectWith({});
    throw error;
  }
}

/** Credentials that others could read on their way. */
async function warnAboutExposure(
  output: Output,
  { insecure }: Settings,
  { places }: CredentialPlan,
  url: string,
): Promise<void> {
  if (places.length === 0) return;
  if (insecure) {
    await output.warn("a credential is sent to a server whose identity is not verified (--insecure)");
  }
  const { protocol, hostname } = URL.parse(url) ?? { protocol: "", hostname: "" };
  if (protocol === "http:" && !isLoopbackHost(hostname)) {
    await output.warn(`a credential is sent in clear text to ${hostname}`);
  }
}
