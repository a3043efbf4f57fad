import { describe, expect, it } from "vitest";
import type { Place } from "../requirements.ts";
import { type Scenario, type ScenarioOptions, scenarios } from "../scenario.ts";
import { type KnownAgent, whyNotApplicable } from "./applies.ts";

function scenarioOf(options: ScenarioOptions, ids = "A-1"): Scenario {
  const { scenarios: list } = scenarios("one", ({ verifies }) =>
    verifies.where(options)(ids, "is seen", async () => {}),
  );
  const [only] = list;
  if (only === undefined) throw new Error("there is none");
  return only;
}

const any = { needs: "any" } as const;

interface Case {
  readonly name: string;
  readonly scenario: Scenario;
  readonly card?: object;
  readonly place?: Place;
  readonly agent?: KnownAgent;
  readonly headers?: Record<string, string>;
  readonly wanted: RegExp | undefined;
}

const bearerCard = { securityRequirements: [{ schemes: { bearer: { list: [] } } }] };

const cases: readonly Case[] = [
  { name: "one for any agent", scenario: scenarioOf(any), wanted: undefined },
  { name: "one in the card", scenario: scenarioOf(any, "L-1"), place: "card", wanted: undefined },
  {
    name: "one for the reference agent, of any other",
    scenario: scenarioOf({}),
    wanted: /^It needs the reference agent of a2a-connect, which/,
  },
  { name: "one for the reference agent", scenario: scenarioOf({}), agent: "reference", wanted: undefined },
  {
    name: "one for a reference agent that is set up in another way",
    scenario: scenarioOf({ server: "identity" }),
    agent: "reference",
    wanted: /^It needs the reference agent of a2a-connect, set up with callers/,
  },
  {
    name: "one on a wire that is not declared",
    scenario: scenarioOf(any),
    place: "grpc",
    wanted: /no interface for grpc\.$/,
  },
  {
    name: "one that binds clients",
    scenario: scenarioOf({}, "F-2"),
    agent: "reference",
    wanted: /rule for clients/,
  },
  {
    name: "one about streams, of an agent without",
    scenario: scenarioOf({ ...any, when: ["streaming"] }),
    wanted: /does not declare streaming/,
  },
  {
    name: "one about streams, of an agent with",
    scenario: scenarioOf({ ...any, when: ["streaming"] }),
    card: { capabilities: { streaming: true } },
    wanted: undefined,
  },
  {
    name: "one about agents without webhooks, of an agent with",
    scenario: scenarioOf({ ...any, when: ["no-push"] }),
    card: { capabilities: { pushNotifications: true } },
    wanted: /about agents without/,
  },
  {
    name: "one for any agent, of an agent that wants to know who calls",
    scenario: scenarioOf(any),
    card: bearerCard,
    wanted: /none were given/,
  },
  {
    name: "the same with credentials",
    scenario: scenarioOf(any),
    card: bearerCard,
    headers: { authorization: "Bearer t" },
    wanted: undefined,
  },
  {
    name: "one about callers without credentials",
    scenario: scenarioOf({ ...any, when: ["credentials"] }),
    card: bearerCard,
    wanted: undefined,
  },
];

describe("whether a scenario applies", () => {
  for (const { name, scenario, card = {}, place = "jsonrpc", agent = "any", headers = {}, wanted } of cases) {
    it(`${wanted === undefined ? "runs" : "leaves out"} ${name}`, () => {
      const server = {
        card: { ...card },
        addresses: new Map([["jsonrpc", "http://localhost/rpc"]] as const),
        headers,
      };
      const why = whyNotApplicable(scenario, place, server, agent);
      if (wanted === undefined) expect(why).toBeUndefined();
      else expect(why).toMatch(wanted);
    });
  }
});
