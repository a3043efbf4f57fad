// kill -9 at every write boundary of a store, the caller and its webhooks outliving the server.

import { startReceiver } from "@a2a-connect/conformance";
import { expect, it } from "vitest";
import { temporaryDirectory } from "./agent-process.ts";
import { type Failpoint, sides, type WriteCounts, type WriteKind, writeKinds } from "./failpoint-store.ts";
import { createRandom, type Random } from "./random.ts";
import { count, isLong, report } from "./report.ts";
import { playScenario } from "./scenario.ts";
import { superviseAgent } from "./supervised-agent.ts";
import { findFaults, judge } from "./verdict.ts";

/** How many boundaries a short run tries, besides the first and the last of each kind. */
const sampleSize = 4;

/** How often a long run goes through all of them, each time with other wires and other second kills. */
const rounds = isLong ? 3 : 1;

/** How often the process that follows a killed one is killed as well, while it takes up what was left: one time in … */
const secondKillEvery = 2;

it("kill -9 at a write boundary changes nothing that is seen", { timeout: rounds * 900_000 }, async () => {
  await using webhooks = await startReceiver();
  const dataDir = temporaryDirectory();
  const agent = await superviseAgent(dataDir);
  const play = (random: Random) => playScenario({ service: agent, random, webhooks });
  await agent.arm(undefined);
  const undisturbed = await play(createRandom(0));
  const counts = await agent.counts();
  expect(findFaults(undisturbed)).toEqual([]);
  for (const kind of ["commit", "putReply", "moveDelivery", "putPushConfig", "deletePushConfig"] as const) {
    expect(counts[kind], `undisturbed calls of ${kind}`).toBeGreaterThan(0);
  }

  const boundaries = boundariesOf(counts);
  const tried: Failpoint[] = [];
  const unreached: Failpoint[] = [];
  let comparedEvents = 0;
  for (let round = 1; round <= rounds; round++) {
    const chosen = isLong ? boundaries : sample(boundaries, createRandom(round));
    for (const [index, failpoint] of chosen.entries()) {
      const seed = round * 1_000 + index;
      const random = createRandom(seed);
      const next = random.between(1, secondKillEvery) === 1 ? [atStart(random)] : [];
      const killsBefore = agent.kills;
      await agent.arm(failpoint, ...next);
      const verdict = judge(await play(random), { undisturbed, dataDir });
      expect({ seed, failpoint, next, problems: verdict.problems }).toEqual({
        seed,
        failpoint,
        next,
        problems: [],
      });
      (agent.kills > killsBefore ? tried : unreached).push(failpoint);
      comparedEvents += verdict.comparedEvents;
    }
  }
  // A run may write a little less than the first did, so that the last writes of a kind are not there.
  expect(unreached.filter(({ kind, call }) => call < 0.9 * counts[kind])).toEqual([]);
  expect(agent.kills).toBeGreaterThan(tried.length);
  report({
    fault: "`kill -9` right before, during or after a write of the store, for every write of a scenario",
    times: `${count(agent.kills, "kills")} at ${count(boundaries.length, "boundaries")} and during recoveries`,
    compared: count(comparedEvents, "events"),
  });
});

function boundariesOf(counts: WriteCounts): readonly Failpoint[] {
  return writeKinds.flatMap((kind) =>
    Array.from({ length: counts[kind] }, (_, index) =>
      sides.map((side) => ({ kind, call: index + 1, side })),
    ).flat(),
  );
}

/** The first and the last of each kind, and as many others as chance takes. */
function sample(boundaries: readonly Failpoint[], random: Random): readonly Failpoint[] {
  const ends = writeKinds.flatMap((kind) => {
    const ofKind = boundaries.filter((each) => each.kind === kind);
    return [...new Set([...ofKind.slice(0, 1), ...ofKind.slice(-1)])];
  });
  const others = boundaries.filter((each) => !ends.includes(each));
  while (others.length > sampleSize) others.splice(random.between(0, others.length - 1), 1);
  return [...ends, ...others];
}

/** Somewhere in what a new process writes first: taking up tasks, telling webhooks, forgetting. */
function atStart(random: Random): Failpoint {
  const kinds: readonly WriteKind[] = [
    "claim",
    "claim",
    "commit",
    "commit",
    "commit",
    "moveDelivery",
    "expire",
  ];
  const kind = kinds[random.between(0, kinds.length - 1)] ?? "commit";
  const call = random.between(1, kind === "commit" ? 5 : 1);
  return { kind, call, side: sides[random.between(0, 2)] ?? "before" };
}
