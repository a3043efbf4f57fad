import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Facts, fitPhase, nextStep, type Outcome, type Phase, transitions } from "./phases.ts";

const phases = Object.keys(transitions) as Phase[]; // the keys of a Record<Phase, …>

/** All arrows: from, outcome, to, and what comes before. */
const arrows = phases.flatMap((from) =>
  Object.entries(transitions[from]).map(([outcome, { to, before }]) => ({ from, outcome, to, before })),
);

const facts = fc.record<Facts>({ webhook: fc.boolean(), streams: fc.boolean(), longPolls: fc.boolean() });

describe("what comes next", () => {
  it.each<[Phase, Outcome, Phase, string]>([
    ["send", "taken", "subscribe", "at once"],
    ["send", "refused", "send", "new card"],
    ["send", "unsupported", "send-by-call", "at once"],
    ["send", "broken", "send", "backoff"],
    ["send", "fruitless", "send-again", "backoff"],
    ["send-again", "taken", "subscribe", "at once"],
    ["send-again", "broken", "send", "backoff"],
    ["send-by-call", "broken", "send-by-call", "backoff"],
    ["send-by-webhook", "taken", "subscribe", "at once"],
    ["subscribe", "ended", "subscribe", "backoff"],
    ["subscribe", "broken", "subscribe", "backoff"],
    ["subscribe", "fruitless", "check", "at once"],
    ["subscribe", "silent", "check-silence", "at once"],
    ["subscribe", "unsupported", "poll", "at once"],
    ["check", "behind", "subscribe", "at once"],
    ["check", "news", "subscribe", "interval"],
    ["check", "broken", "subscribe", "backoff"],
    ["check-silence", "ended", "subscribe", "at once"],
    ["check-silence", "news", "poll", "at once"],
    ["poll", "news", "poll", "interval"],
    ["poll", "broken", "poll", "backoff"],
    ["long-poll", "news", "poll", "at once"],
    ["long-poll", "early", "poll", "interval"],
  ])("after %s: %s", (phase, outcome, to, before) => {
    expect(nextStep(phase, outcome)).toEqual({ to, before });
  });

  it("is nothing after an outcome that cannot be", () => {
    expect(() => nextStep("poll", "taken")).toThrow('"taken" in the phase "poll"');
  });

  it("never sends again once the message was taken", () => {
    const reached = new Set<Phase>(["subscribe", "poll"]);
    for (const from of reached) {
      for (const each of arrows) if (each.from === from) reached.add(each.to);
    }
    expect([...reached].filter((phase) => phase.startsWith("send"))).toEqual([]);
  });

  it("comes at once after these alone, when the message was taken", () => {
    // Each of these changes what is known: the task's new events, or that streams hold events back.
    const quick = arrows.filter(({ from, before }) => before === "at once" && !from.startsWith("send"));
    expect(quick.map(({ from, outcome, to }) => `${from}: ${outcome} → ${to}`)).toEqual([
      "subscribe: fruitless → check",
      "subscribe: silent → check-silence",
      "subscribe: unsupported → poll",
      "check: behind → subscribe",
      "check-silence: behind → subscribe",
      "check-silence: ended → subscribe",
      "check-silence: news → poll",
      "long-poll: news → poll",
      "long-poll: ended → poll",
    ]);
  });

  it("waits after every failure that may pass", () => {
    expect(arrows.filter(({ outcome }) => outcome === "broken")).toHaveLength(phases.length);
    for (const { outcome, before } of arrows) {
      if (outcome === "broken") expect(before).toBe("backoff");
    }
  });
});

describe("what an agent permits", () => {
  it("is no stream where the card has none", () => {
    fc.assert(
      fc.property(fc.constantFrom(...arrows), facts, ({ to }, known) => {
        const phase = fitPhase(to, { ...known, streams: false });
        expect(phase).not.toBe("subscribe");
        expect(phase).not.toBe("send");
      }),
    );
  });

  it("is a webhook before a stream, and a long poll before a poll", () => {
    expect(fitPhase("send", { webhook: true, streams: true, longPolls: false })).toBe("send-by-webhook");
    expect(fitPhase("send", { webhook: false, streams: false, longPolls: true })).toBe("send-by-call");
    expect(fitPhase("subscribe", { webhook: false, streams: false, longPolls: true })).toBe("long-poll");
    expect(fitPhase("poll", { webhook: false, streams: true, longPolls: false })).toBe("poll");
  });

  it("is always a phase of the table", () => {
    fc.assert(
      fc.property(fc.constantFrom(...phases), facts, (phase, known) => {
        expect(phases).toContain(fitPhase(phase, known));
      }),
    );
  });
});

it("is drawn in docs/client.md", () => {
  const lines = arrows.map(
    ({ from, outcome, to, before }) => `| \`${from}\` | ${outcome} | \`${to}\` | ${before} |`,
  );
  const page = readFileSync(new URL("../../../../docs/client.md", import.meta.url), "utf8");
  const drawn = page.split("\n").filter((line) => /^\| `[a-z-]+` \| [a-z]+ \| `/.test(line));
  expect(drawn).toEqual(lines);
});
