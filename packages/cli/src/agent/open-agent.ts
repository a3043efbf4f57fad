import { type AgentClient, AgentError, NoInterfaceError } from "@a2a-connect/client";
import { connectAgent, type NodeConnectOptions, nodePlatform } from "@a2a-connect/node/client";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import type { Output } from "../output/output.ts";
import type { ResolvedSettings } from "../settings/resolve-settings.ts";
import type { Settings } from "../settings/settings.ts";
import { createWireLog } from "../wire-log/wire-log.ts";
import { type AgentSettings, resolveAgentSettings } from "./agent-settings.ts";
import { createCallHeaders } from "./call-headers.ts";
import { type CardReference, nameHint, resolveCardReference } from "./card-reference.ts";
import { type CredentialPlan, planCredentials } from "./credentials.ts";
import { parseCard, readCardFile } from "./read-card-file.ts";
import { untilAborted } from "./until-aborted.ts";

/** What an agent is opened with. */
export interface AgentSituation {
  readonly io: CliIo;
  readonly output: Output;
  readonly resolved: ResolvedSettings;
  readonly signal: AbortSignal;
}

/**
 * Connects to the agent of `--agent-card` as the settings say.
 *
 * @throws CliError USAGE, CARD_NOT_FOUND, CREDENTIALS_MISSING; AgentErrors of the client
 */
export async function openAgent(
  situation: AgentSituation,
  options: Partial<NodeConnectOptions> = {},
): Promise<AgentClient> {
  const reference = await resolveCardReference(situation.resolved.settings.agentCard, situation.io);
  const agent = await connect(situation, reference, options).catch(async (error: unknown) => {
    throw await withNameHint(error, situation);
  });
  return agent;
}

async function connect(
  situation: AgentSituation,
  reference: CardReference,
  options: Partial<NodeConnectOptions>,
): Promise<AgentClient> {
  const { io, output, resolved, signal } = situation;
  const settings = resolveAgentSettings(resolved, reference.kind === "url" ? reference.entry : undefined);
  if (settings.insecure) {
    await output.warn("TLS certificates are not verified (--insecure): anybody in between can read and change everything");
  }
  const calls = createCallHeaders(settings.serviceParameters);
  const tls = settings.insecure ? { insecure: true } : {};
  const platform = nodePlatform({
    tls,
    ...(reference.kind === "url" ? { cardUrl: new URL(reference.url) } : {}),
  });
  const log = settings.debug ? createWireLog(io.stderr, settings) : undefined;
  const fetch = platform.fetch ?? globalThis.fetch;
  const connectOptions: NodeConnectOptions = {
    ...pinsOf(settings),
    ...options,
    fetch: calls.wrapFetch(log?.wrapFetch(fetch) ?? fetch),
    tls,
    platform: log?.wrapPlatform(platform) ?? platform,
    interceptors: [calls.interceptor, ...(options.interceptors ?? [])],
    onWarning: (warning) => {
      void output.warn(warning);
      options.onWarning?.(warning);
    },
  };
  const target =
    reference.kind === "url" ? reference.url : parseCard(await readCardFile(reference.path), reference.path);
  try {
    const agent = await connectPreferably(settings.transports, (bindings) =>
      untilAborted(signal, connectAgent(target, { ...connectOptions, ...bindings })),
    );
    const plan = planCredentials(agent.card, settings);
    calls.use(plan, () => agent.interface.protocolBinding);
    await warnAboutExposure(output, settings, plan, agent.interface.url);
    return agent;
  } catch (error) {
    await platform.close();
    throw error;
  }
}

/** By the user's order; when the card has none of these bindings, by the card's (a2a-cli §13.1). */
async function connectPreferably(
  preferred: readonly string[],
  connectWith: (choice: { readonly bindings?: readonly string[] }) => Promise<AgentClient>,
): Promise<AgentClient> {
  if (preferred.length === 0) {
    return await connectWith({});
  }
  try {
    return await connectWith({ bindings: preferred });
  } catch (error) {
    if (error instanceof NoInterfaceError) {
      return await connectWith({});
    }
    throw error;
  }
}

function pinsOf({ a2aVersion, pinBinding, cardVersion }: AgentSettings): NodeConnectOptions {
  return {
    ...(a2aVersion === undefined ? {} : { pinVersion: a2aVersion }),
    ...(pinBinding === undefined ? {} : { pinBinding }),
    ...(cardVersion === undefined ? {} : { expect: { cardVersion } }),
  };
}

/** Credentials that others could read on their way. */
async function warnAboutExposure(
  output: Output,
  { insecure }: Settings,
  { places }: CredentialPlan,
  url: string,
): Promise<void> {
  if (places.length === 0) {
    return;
  }
  if (insecure) {
    await output.warn("a credential is sent although nobody knows who is at the other end (--insecure)");
  }
  const { protocol, hostname } = URL.parse(url) ?? { protocol: "", hostname: "" };
  if (protocol === "http:" && !/^(?:localhost|.*\.localhost|127\..*|\[::1\])$/.test(hostname)) {
    await output.warn(`a credential is sent in clear text to ${hostname}`);
  }
}

/** Somebody who typed a name that nobody knows wants to hear which ones there are. */
async function withNameHint(error: unknown, { io, resolved }: AgentSituation): Promise<unknown> {
  if (!(error instanceof AgentError) || error.code !== "card-not-found") {
    return error;
  }
  const hint = await nameHint(resolved.settings.agentCard, io);
  return hint === undefined
    ? error
    : new CliError("A2ACLI_ERR_CARD_NOT_FOUND", error.message, { hint, cause: error });
}
