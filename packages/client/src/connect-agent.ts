import { lifecycleExtension } from "@a2a-connect/core";
import { A2AService } from "@a2a-connect/proto";
import { createClient as createRpcClient } from "@connectrpc/connect";
import type { AgentClient } from "./agent-client.ts";
import { AgentCards } from "./card/agent-cards.ts";
import { createCardResolver, type ResolvedCard } from "./card/card-resolver.ts";
import { checkExpectation } from "./card/expected-card.ts";
import { verifyExtendedCards } from "./card/extended-card.ts";
import { ExtendedCards } from "./card/extended-cards.ts";
import { readLifecycleParams } from "./card/lifecycle-params.ts";
import { checkRequirements } from "./card/required-abilities.ts";
import { inspectResponses } from "./content/inspect-interceptor.ts";
import { inspectOnce } from "./content/inspect-once.ts";
import { createClient } from "./create-client.ts";
import { AgentTransport } from "./interface/agent-transport.ts";
import { chooseInterfaces } from "./interface/choose-interfaces.ts";
import type { UsedCard } from "./interface/used-card.ts";
import type { AgentReference, ConnectOptions } from "./options.ts";
import { resolveSettings } from "./settings.ts";

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
export async function connectAgent(
  reference: AgentReference,
  given: ConnectOptions = {},
): Promise<AgentClient> {
  const options = given.inspect === undefined ? given : { ...given, inspect: inspectOnce(given.inspect) };
  const settings = resolveSettings(options);
  const resolver = createCardResolver(reference, options);
  const resolved = await resolver.resolve();
  for (const warning of resolved.warnings) {
    settings.onWarning(warning);
  }
  const test = (found: ResolvedCard) => testCard(found, options);
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

/** Tests a card against the options, and chooses what the client uses of it. */
async function testCard(resolved: ResolvedCard, options: ConnectOptions): Promise<UsedCard> {
  const { card } = resolved;
  await checkExpectation(resolved, options.expect ?? {});
  checkRequirements(card, options.requires ?? {});
  const lifecycle = readLifecycleParams(card);
  return {
    resolved,
    candidates: chooseInterfaces(card, options),
    honoursKeys: lifecycle?.idempotencyKeys === true,
    settings: {
      ...options,
      extensions: [...(options.extensions ?? []), ...(lifecycle === undefined ? [] : [lifecycleExtension])],
      interceptors: [
        ...(options.interceptors ?? []),
        ...(options.inspect === undefined ? [] : [inspectResponses(options.inspect)]),
        ...(options.verifyCard === undefined ? [] : [verifyExtendedCards(resolved, options)]),
      ],
    },
  };
}
