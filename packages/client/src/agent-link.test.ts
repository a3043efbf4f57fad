import { createRouterTransport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { agentCard, agentInterface } from "../test-support/cards.ts";
import { AgentLink, type Link } from "./agent-link.ts";
import type { CardResolver, ResolvedCard } from "./card/card-resolver.ts";
import { CardDriftError, CardExpectationError } from "./errors.ts";

const { signal } = new AbortController();

function resolvedCard(version: string): ResolvedCard {
  const card = agentCard({ version });
  return { card, warnings: [], url: undefined, asked: undefined, text: version };
}

/** A link whose cards come when they are told to. */
function createAgentLink(relink: (resolved: ResolvedCard) => Promise<void> = async () => {}) {
  const answers: PromiseWithResolvers<ResolvedCard>[] = [];
  const opened: string[] = [];
  const closed: string[] = [];
  const warnings: string[] = [];
  const openLink = (resolved: ResolvedCard): Link => {
    opened.push(resolved.text);
    return {
      resolved,
      transport: createRouterTransport(() => {}),
      interface: () => ({ interface: agentInterface(), protocolVersion: "1.0" }),
      honoursKeys: false,
      close: () => void closed.push(resolved.text),
    };
  };
  const ask = () => {
    const answer = Promise.withResolvers<ResolvedCard>();
    answers.push(answer);
    return answer.promise;
  };
  const resolver: CardResolver = { resolve: ask, refresh: ask, recall: ask };
  const link = new AgentLink(
    openLink(resolvedCard("1")),
    resolver,
    async (resolved) => {
      await relink(resolved);
      return openLink(resolved);
    },
    (warning) => warnings.push(warning),
  );
  const answer = (call: number, resolved: ResolvedCard) => answers[call]?.resolve(resolved);
  return { link, answer, opened, closed, warnings };
}

it("takes a card over once, though several calls bring it, and closes the link before it", async () => {
  const { link, answer, opened, closed, warnings } = createAgentLink();
  const renewals = [link.renew(signal), link.renew(signal), link.renew(signal)];
  const next = resolvedCard("2");
  for (const call of renewals.keys()) answer(call, next);
  await Promise.all(renewals);
  expect(link.current.resolved).toBe(next);
  expect(opened).toEqual(["1", "2"]);
  expect(closed).toEqual(["1"]);
  expect(warnings).toHaveLength(1);
});

it("does not go back to an older card that comes late", async () => {
  const { link, answer, opened } = createAgentLink();
  const slow = link.renew(signal);
  const quick = link.renew(signal);
  answer(1, resolvedCard("3"));
  await quick;
  answer(0, resolvedCard("2"));
  await slow;
  expect(opened).toEqual(["1", "3"]);
  expect(link.current.resolved.text).toBe("3");
});

it("takes over one card after the other", async () => {
  const goOn = Promise.withResolvers<void>();
  const { link, answer, opened } = createAgentLink(() => goOn.promise);
  const renewals = [link.renew(signal), link.renew(signal)];
  answer(0, resolvedCard("2"));
  answer(1, resolvedCard("3"));
  goOn.resolve();
  await Promise.all(renewals);
  expect(opened).toEqual(["1", "2"]);
  const third = link.renew(signal);
  answer(2, resolvedCard("3"));
  await third;
  expect(opened).toEqual(["1", "2", "3"]);
});

it("tells all who bring a card that it will not do, and looks at it again when it comes again", async () => {
  let isExpected = false;
  const { link, answer, opened, closed } = createAgentLink(async () => {
    if (!isExpected) throw new CardExpectationError("not this one");
  });
  const renewals = [link.renew(signal), link.renew(signal)];
  const next = resolvedCard("2");
  for (const call of renewals.keys()) answer(call, next);
  for (const renewal of await Promise.allSettled(renewals)) {
    expect(renewal).toMatchObject({ status: "rejected", reason: expect.any(CardDriftError) });
  }
  expect([opened, closed]).toEqual([["1"], []]);
  isExpected = true;
  const again = link.renew(signal);
  answer(2, next);
  await again;
  expect(link.current.resolved).toBe(next);
});

it("takes over a card that came while another one was found not to do", async () => {
  const { link, answer } = createAgentLink(async ({ text }) => {
    if (text === "2") throw new CardExpectationError("not this one");
  });
  const renewals = [link.renew(signal), link.renew(signal)];
  answer(0, resolvedCard("2"));
  answer(1, resolvedCard("3"));
  const [first, second] = await Promise.allSettled(renewals);
  expect([first?.status, second?.status]).toEqual(["rejected", "fulfilled"]);
  expect(link.current.resolved.text).toBe("3");
});

it("leaves no link open that comes when it was closed", async () => {
  const goOn = Promise.withResolvers<void>();
  const { link, answer, closed } = createAgentLink(() => goOn.promise);
  const renewal = link.renew(signal);
  answer(0, resolvedCard("2"));
  link.close();
  goOn.resolve();
  await renewal;
  expect(closed).toContain("2");
});
