import { lifecycleExtension } from "@a2a-connect/core";
import { A2AService } from "@a2a-connect/proto";
import { createClient as createRpcClient } from "@connectrpc/connect";
import type { AgentClient } from "./agent-client.ts";
import { AgentCards } from "./card/agent-cards.ts";
import { createCardResolver, type ResolvedCard } from "./card/card-resolver.ts";
import { verifyExtendedCards } from "./card/extended-card.ts";
import { ExtendedCards } from "./card/extended-cards.ts";
import { readLifecycleParams } from "./card/lifecycle-params.ts";
import { createClient } from "./create-client.ts";
import { AgentTransport } from "./interface/agent-transport.ts";
import { chooseInterfaces } from "./interface/choose-interfaces.ts";
import type { UsedCard } from "./interface/used-card.ts";
import type { AgentReference, ConnectOptions } from "./options.ts";
import type { BindingTransport } from "./platform.ts";
import { resolveSettings } from "./settings.ts";
import { webTransports } from "./transports/web-transports.ts";

/**
 * Connects to an agent: fetches its card, tests it, and picks the first interface that both sides know. It calls no
 * interface before the first operation.
 *
 * @param reference where the agent is (a host, an origin, the URL of its card), or its card
 * @throws CardNotFoundError, CardInvalidError when there is no usable card, UnreachableError when nothing listens there
 * @throws CardRefusedError when the card is not trusted, UntrustedOutputError when `inspect` refuses it
 * @throws RequirementError, CardExpectationError, NoInterfaceError when the agent does not fit the options
 * @throws Error when the options contradict each other
 */
export const connectAgent: ConnectAgent = connectOver(webTransports);

type ConnectAgent = (reference: AgentReference, options?: ConnectOptions) => Promise<AgentClient>;

/** `connectAgent` over the platform's wires and these. What only some options need is loaded for them. */
export function connectOver(wires: readonly BindingTransport[]): ConnectAgent {
  return (reference, options = {}) => connect(reference, options, wires);
}

async function connect(
  reference: AgentReference,
  given: ConnectOptions,
  wires: readonly BindingTransport[],
): Promise<AgentClient> {
  const options = await withInspection(given);
  const settings = resolveSettings(options);
  const resolver = createCardResolver(reference, options);
  const resolved = await resolver.resolve();
  for (const warning of resolved.warnings) {
    settings.onWarning(warning);
  }
  const test = (found: ResolvedCard) => testCard(found, options, wires);
  const transport = new AgentTransport(await test(resolved));
  const cards = new AgentCards(transport, resolver, test, settings.onWarning);
  const rpc = createRpcClient(A2AService, transport);
  return createClient({
    options,
    settings,
    cards,
    extended: new ExtendedCards(cards, rpc, options, settings),
    transport,
    rpc,
    followers: new Map(),
    closed: new AbortController(),
  });
}

async function withInspection(options: ConnectOptions): Promise<ConnectOptions> {
  const { inspect } = options;
  if (inspect === undefined) {
    return options;
  }
  const { inspectOnce } = await import("./on-demand.ts");
  return { ...options, inspect: inspectOnce(inspect) };
}

/** Tests a card against the options, and chooses what the client uses of it. */
async function testCard(
  resolved: ResolvedCard,
  options: ConnectOptions,
  wires: readonly BindingTransport[],
): Promise<UsedCard> {
  const { card } = resolved;
  const { expect, requires } = options;
  if (expect !== undefined) {
    const { checkExpectation } = await import("./on-demand.ts");
    await checkExpectation(resolved, expect);
  }
  if (requires !== undefined) {
    const { checkRequirements } = await import("./on-demand.ts");
    checkRequirements(card, requires);
  }
  const lifecycle = readLifecycleParams(card);
  return {
    resolved,
    candidates: chooseInterfaces(card, options, wires),
    honoursKeys: lifecycle?.idempotencyKeys === true,
    settings: {
      ...options,
      extensions: [...(options.extensions ?? []), ...(lifecycle === undefined ? [] : [lifecycleExtension])],
      interceptors: [
        ...(options.interceptors ?? []),
        ...(options.inspect === undefined
          ? []
          : [(await import("./on-demand.ts")).inspectResponses(options.inspect)]),
        ...(options.verifyCard === undefined ? [] : [verifyExtendedCards(resolved, options)]),
      ],
    },
  };
}
