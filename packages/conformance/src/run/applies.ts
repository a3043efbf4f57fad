import { type CardFact, findCardFacts } from "../card-facts.ts";
import { getRequirement, type Place } from "../requirements.ts";
import type { Scenario } from "../scenario.ts";
import type { ServerName } from "../server-name.ts";
import type { FoundServer } from "../target.ts";

/** What is known of the agent at a URL: nothing, or that it is the reference agent, which does what a message says. */
export type KnownAgent = "any" | "reference";

/** A scenario in one place, and the server that it would run against. */
interface Case {
  readonly scenario: Scenario;
  readonly place: Place;
  readonly server: Pick<FoundServer, "addresses" | "headers">;
  readonly facts: ReadonlySet<CardFact>;
  readonly agent: KnownAgent;
}

/** Why a scenario says nothing about a server; undefined when this reason does not hold. */
type Reason = (candidate: Case) => string | undefined;

/** Scenarios of the reference agent need it set up in these ways, which no URL shows. */
const setups: Readonly<Record<Exclude<ServerName, "full">, string>> = {
  bare: "without streaming, webhooks and an extended card",
  "required-extension": "with an extension that every call has to list",
  push: "with webhooks on this machine",
  "no-push": "without webhooks",
  identity: "with callers who say in a header who they are",
  "no-card": "with an extended card that is declared but missing",
  credentials: "to refuse callers without credentials",
  "lenient-version": "to treat a call without a version as one of 1.0",
  signed: "with a signed card",
  "one-version": "to speak no version but 1.0",
  "short-poll": "to hold no call for long",
};

const missing: Readonly<Record<CardFact, string>> = {
  streaming: "The card does not declare streaming.",
  "no-streaming": "The card declares streaming; this is about agents without.",
  push: "The card does not declare push notifications.",
  "no-push": "The card declares push notifications; this is about agents without.",
  "extended-card": "The card does not declare an extended card.",
  "no-extended-card": "The card declares an extended card; this is about agents without.",
  extensions: "The card declares no extension.",
  "required-extension": "The card requires no extension.",
  credentials: "The card lets callers in without credentials.",
  signatures: "The card is not signed.",
};

/** The reasons, the first one that holds counts. */
const reasons: readonly Reason[] = [
  ({ scenario }) =>
    scenario.ids.every((id) => getRequirement(id).of === "client")
      ? "It is a rule for clients, and this run examines a server."
      : undefined,
  ({ place, server }) =>
    place !== "card" && !server.addresses.has(place)
      ? `The card declares no interface for ${place}.`
      : undefined,
  ({ scenario, agent }) =>
    scenario.needs === "reference" && agent !== "reference"
      ? "It needs the reference agent of a2a-connect, which does what the text of a message says."
      : undefined,
  ({ scenario: { needs, server } }) =>
    needs === "reference" && server !== "full"
      ? `It needs the reference agent of a2a-connect, set up ${setups[server]}.`
      : undefined,
  ({ scenario, facts }) => {
    const lacking = scenario.when.find((fact) => !facts.has(fact));
    return lacking === undefined ? undefined : missing[lacking];
  },
  ({ scenario, place, server, facts }) =>
    place !== "card" &&
    facts.has("credentials") &&
    !scenario.when.includes("credentials") &&
    Object.keys(server.headers).length === 0
      ? "The card lets no caller in without credentials, and none were given."
      : undefined,
];

/** Why a scenario says nothing about a server in that place, as a sentence; undefined when it does. */
export function whyNotApplicable(
  scenario: Scenario,
  place: Place,
  server: Pick<FoundServer, "card" | "addresses" | "headers">,
  agent: KnownAgent,
): string | undefined {
  const candidate: Case = { scenario, place, server, facts: findCardFacts(server.card), agent };
  for (const reason of reasons) {
    const sentence = reason(candidate);
    if (sentence !== undefined) return sentence;
  }
  return undefined;
}
