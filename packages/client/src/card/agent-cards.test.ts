import { createRouterTransport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { agentCard, agentInterface } from "../../test-support/cards.ts";
import { CardDriftError, CardExpectationError } from "../errors.ts";
import { AgentTransport } from "../interface/agent-transport.ts";
import type { UsedCard } from "../interface/used-card.ts";
import { AgentCards } from "./agent-cards.ts";
import type { CardResolver, ResolvedCard } from "./card-resolver.ts";

const { signal } = new AbortController();

function resolvedCard(version: string): ResolvedCard {
  const card = agentCard({ version });
  return { card, warnings: [], url: undefined, asked: undefined, text: version };
}

/** An agent whose cards come when they are told to. */
function createAgentCards(test: (resolved: ResolvedCard) => Promise<void> = async () => {}) {
  const answers: PromiseWithResolvers<ResolvedCard>[] = [];
  const opened: string[] = [];
  const closed: string[] = [];
  const warnings: string[] = [];
  const use = (resolved: ResolvedCard): UsedCard => ({
    resolved,
    candidates: [
      {
        interface: agentInterface(),
        protocolVersion: "1.0",
        binding: {
          binding: "JSONRPC",
          open() {
            opened.push(resolved.text);
            return {
              transport: createRouterTransport(() => {}),
              close: () => void closed.push(resolved.text),
            };
          },
        },
      },
    ],
    settings: {},
    honoursKeys: false,
  });
  const ask = () => {
    const answer = Promise.withResolvers<ResolvedCard>();
    answers.push(answer);
    return answer.promise;
  };
  const resolver: CardResolver = { resolve: ask, refresh: ask, recall: ask };
  const transport = new AgentTransport(use(resolvedCard("1")));
  const cards = new AgentCards(
    transport,
    resolver,
    async (resolved) => {
      await test(resolved);
      return use(resolved);
    },
    (warning) => warnings.push(warning),
  );
  const answer = (call: number, resolved: ResolvedCard) => answers[call]?.resolve(resolved);
  return { cards, transport, answer, opened, closed, warnings };
}

it("takes a card over once, though several calls bring it, and closes the link before it", async () => {
  const { cards, answer, opened, closed, warnings } = createAgentCards();
  const renewals = [cards.renew(signal), cards.renew(signal), cards.renew(signal)];
  const next = resolvedCard("2");
  for (const call of renewals.keys()) answer(call, next);
  await Promise.all(renewals);
  expect(cards.current.resolved).toBe(next);
  expect(opened).toEqual(["1", "2"]);
  expect(closed).toEqual(["1"]);
  expect(warnings).toHaveLength(1);
});

it("does not go back to an older card that comes late", async () => {
  const { cards, answer, opened } = createAgentCards();
  const slow = cards.renew(signal);
  const quick = cards.renew(signal);
  answer(1, resolvedCard("3"));
  await quick;
  answer(0, resolvedCard("2"));
  await slow;
  expect(opened).toEqual(["1", "3"]);
  expect(cards.current.resolved.text).toBe("3");
});

it("takes over one card after the other", async () => {
  const goOn = Promise.withResolvers<void>();
  const { cards, answer, opened } = createAgentCards(() => goOn.promise);
  const renewals = [cards.renew(signal), cards.renew(signal)];
  answer(0, resolvedCard("2"));
  answer(1, resolvedCard("3"));
  goOn.resolve();
  await Promise.all(renewals);
  expect(opened).toEqual(["1", "2"]);
  const third = cards.renew(signal);
  answer(2, resolvedCard("3"));
  await third;
  expect(opened).toEqual(["1", "2", "3"]);
});

it("tells all who bring a card that it will not do, and looks at it again when it comes again", async () => {
  let isExpected = false;
  const { cards, answer, opened, closed } = createAgentCards(async () => {
    if (!isExpected) throw new CardExpectationError("not this one");
  });
  const renewals = [cards.renew(signal), cards.renew(signal)];
  const next = resolvedCard("2");
  for (const call of renewals.keys()) answer(call, next);
  for (const renewal of await Promise.allSettled(renewals)) {
    expect(renewal).toMatchObject({ status: "rejected", reason: expect.any(CardDriftError) });
  }
  expect([opened, closed]).toEqual([["1"], []]);
  isExpected = true;
  const again = cards.renew(signal);
  answer(2, next);
  await again;
  expect(cards.current.resolved).toBe(next);
});

it("takes over a card that came while another one was found not to do", async () => {
  const { cards, answer } = createAgentCards(async ({ text }) => {
    if (text === "2") throw new CardExpectationError("not this one");
  });
  const renewals = [cards.renew(signal), cards.renew(signal)];
  answer(0, resolvedCard("2"));
  answer(1, resolvedCard("3"));
  const [first, second] = await Promise.allSettled(renewals);
  expect([first?.status, second?.status]).toEqual(["rejected", "fulfilled"]);
  expect(cards.current.resolved.text).toBe("3");
});

it("closes the connections of a card that comes after the client was closed", async () => {
  const goOn = Promise.withResolvers<void>();
  const { cards, transport, answer, closed } = createAgentCards(() => goOn.promise);
  const renewal = cards.renew(signal);
  answer(0, resolvedCard("2"));
  transport.close();
  goOn.resolve();
  await renewal;
  expect(closed).toContain("2");
});
