import { lifecycleExtension } from "@a2a-connect/core";
import { A2AService, type AgentCard } from "@a2a-connect/proto";
import { createClient as createRpcClient } from "@connectrpc/connect";
import type { AgentClient } from "./agent-client.ts";
import { AgentLink, type Link } from "./agent-link.ts";
import { createCardResolver, type ResolvedCard } from "./card/card-resolver.ts";
import { checkExpectation } from "./card/expected-card.ts";
import { verifyExtendedCards } from "./card/extended-card.ts";
import { readLifecycleParams } from "./card/lifecycle-params.ts";
import { checkRequirements } from "./card/required-abilities.ts";
import { inspectResponses } from "./content/inspect-interceptor.ts";
import { inspectOnce } from "./content/inspect-once.ts";
import { createClient } from "./create-client.ts";
import { ExtendedCards } from "./extended-cards.ts";
import { chooseInterfaces } from "./interface/choose-interfaces.ts";
import { openInterfaces } from "./interface/interface-transport.ts";
import type { ConnectOptions } from "./options.ts";
import { resolveSettings } from "./settings.ts";

/**
 * Connects to an agent: fetches its card, tests it, and picks the first interface that both sides know. It calls no
 * interface before the first operation.
 *
 * @param reference where the agent is (a host, an origin, the URL of its card), or its card
 * @throws CardNotFoundError, CardInvalidError when there is no usable card
 * @throws CardRefusedError when the card is not trusted, UntrustedOutputError when `inspect` refuses it
 * @throws RequirementError, CardExpectationError, NoInterfaceError when the agent does not fit the options
 * @throws Error when the options contradict each other
 */
export async function connectAgent(
  reference: string | URL | AgentCard,
  given: ConnectOptions = {},
): Promise<AgentClient> {
  const options = given.inspect === undefined ? given : { ...given, inspect: inspectOnce(given.inspect) };
  const settings = resolveSettings(options);
  const resolver = createCardResolver(reference, options);
  const resolved = await resolver.resolve();
  for (const warning of resolved.warnings) {
    settings.onWarning(warning);
  }
  const relink = (next: ResolvedCard) => openLink(next, options);
  const link = new AgentLink(await relink(resolved), resolver, relink, settings.onWarning);
  const rpc = createRpcClient(A2AService, link.transport);
  return createClient({
    options,
    settings,
    link,
    rpc,
    transport: link.transport,
    extended: new ExtendedCards(link, rpc, options, settings),
    closed: new AbortController(),
  });
}

async function openLink(resolved: ResolvedCard, options: ConnectOptions): Promise<Link> {
  const { card } = resolved;
  await checkExpectation(resolved, options.expect ?? {});
  checkRequirements(card, options.requires ?? {});
  const candidates = chooseInterfaces(card, options);
  const lifecycle = readLifecycleParams(card);
  const interfaces = openInterfaces(candidates, {
    ...options,
    cardUrl: resolved.url,
    extensions: [...(options.extensions ?? []), ...(lifecycle === undefined ? [] : [lifecycleExtension])],
    interceptors: [
      ...(options.interceptors ?? []),
      ...(options.inspect === undefined ? [] : [inspectResponses(options.inspect)]),
      ...(options.verifyCard === undefined ? [] : [verifyExtendedCards(resolved, options)]),
    ],
  });
  return {
    resolved,
    transport: interfaces.transport,
    interface: () => interfaces.current,
    honoursKeys: lifecycle?.idempotencyKeys === true,
    close: () => interfaces.close(),
  };
}
