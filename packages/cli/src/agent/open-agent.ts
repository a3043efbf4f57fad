import type { CredentialSource } from "@a2a-connect/auth/client";
import { type AgentClient, NoInterfaceError } from "@a2a-connect/client";
import { isLoopbackHost } from "@a2a-connect/core/internal";
import { connectAgent, type NodeConnectOptions } from "@a2a-connect/node/client";
import { findTokenSource } from "../auth/token-source.ts";
import type { Output } from "../output.ts";
import type { Settings } from "../settings/resolve.ts";
import {
  type AgentSituation,
  openUntilAborted,
  prepareConnection,
  withNameHint,
} from "./agent-connection.ts";
import { type CredentialPlan, planCredentials } from "./credential-places.ts";
import type { HeldCredential } from "./permits.ts";
import { readWithWarnings } from "./receive-card.ts";
import { findCardTrust, requireTrusted } from "./trust.ts";

/**
 * Connects to an agent as the settings say, with the credentials that its card wants.
 *
 * @throws CliError USAGE, CARD_NOT_FOUND, CREDENTIALS_MISSING; AgentErrors of the client
 */
export async function openAgent(
  situation: AgentSituation,
  options: NodeConnectOptions = {},
): Promise<AgentClient> {
  const { io, output, signal } = situation;
  const connection = await prepareConnection(situation);
  const { target, settings, calls } = connection;
  let tokens: CredentialSource | undefined;
  const connectOptions: NodeConnectOptions = {
    ...connection.options,
    ...options,
    auth: {
      forCall: async (call) =>
        tokens?.forCall(call) ?? { headers: {}, query: calls.queryOver(call.interface.protocolBinding) },
      refused: (call, sent) => tokens?.refused(call, sent) === true,
    },
    interceptors: [calls.interceptor, ...(options.interceptors ?? [])],
  };
  try {
    const card =
      target.kind === "url" ? target.url : await readWithWarnings(target.text, target.path, output);
    const trust = await findCardTrust(settings, io);
    const given =
      target.kind === "file" && typeof card === "object" ? { card, text: target.text } : undefined;
    const judge = trust === undefined ? undefined : requireTrusted(trust, given);
    const verifyCard: NodeConnectOptions["verifyCard"] = async (received) => {
      await judge?.(received);
      await options.verifyCard?.(received);
    };
    const agent = await connectPreferably(settings.transports, (choice) =>
      openUntilAborted(signal, connectAgent(card, { ...connectOptions, verifyCard, ...choice })),
    );
    const home = new URL(target.kind === "url" ? target.url : agent.interface.url).origin;
    tokens = await findTokenSource(agent.card, home, settings, io);
    const plan =
      tokens === undefined ? planCredentials(agent.card, settings) : { places: [], isDeclared: true };
    const isUsed = (held: HeldCredential): boolean =>
      held.kind === "client" ? tokens !== undefined : isSent(held, plan);
    for (const credential of connection.stray.filter(isUsed)) {
      await situation.permits.require(credential, connection.named, signal);
    }
    calls.use(plan);
    await warnAboutExposure(output, settings, plan, agent.interface.url);
    return agent;
  } catch (error) {
    await connection.close();
    throw await withNameHint(error, situation);
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

/** Service parameters go with every call. */
function isSent({ kind }: HeldCredential, { places }: CredentialPlan): boolean {
  return kind === "parameter" || places.some(({ credential }) => credential === kind);
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
