// Somebody sets the clock: what waits for a time of day happens by it, and nothing that is seen goes back.

import { join } from "node:path";
import { startReceiver } from "@a2a-connect/conformance";
import { lifecycleExtension, readLifecycleReport } from "@a2a-connect/core";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { type StreamResponse, TaskState } from "@a2a-connect/proto";
import { say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "./agent-process.ts";
import { type ChangedClock, createChangedClock } from "./changed-clock.ts";
import { openEffects } from "./effects.ts";
import { createFaultAgent } from "./fault-agent.ts";
import { createRandom } from "./random.ts";
import { count, isLong, report } from "./report.ts";
import { playScenario } from "./scenario.ts";
import { createService, type Service } from "./service.ts";
import { findOddities, follow, sendAndFollow, stateOf, type Transcript } from "./transcript.ts";
import { findFaults, judge } from "./verdict.ts";

const minute = 60_000;
const hour = 60 * minute;

/** A server on one directory, by a clock of its own. */
interface Stage {
  readonly dataDir: string;
  readonly clock: ChangedClock;
  readonly service: Service;
  /** Stops the server, and starts another one on what it has left. */
  restart(): Promise<void>;
}

async function openStage(clock = createChangedClock()): Promise<Stage> {
  const dataDir = temporaryDirectory();
  const start = () =>
    serve(createFaultAgent(openEffects(dataDir)), {
      file: join(dataDir, "tasks.sqlite"),
      clock,
      push: { allow: ["127.0.0.1"] },
    });
  const stop = (served: ServedAgent) => served.close({ graceMs: 0, timeoutMs: 1_000 });
  let served = await start();
  onTestFinished(() => stop(served));
  return {
    dataDir,
    clock,
    service: createService(async () => ({ url: served.url, isLost: async () => false })),
    async restart() {
      await stop(served);
      served = await start();
    },
  };
}

const wire = "gRPC";

async function send(
  { service }: Stage,
  words: string,
  details: Parameters<typeof say>[1] = {},
): Promise<string> {
  const client = await service.client(wire);
  return taskOf(
    await client.sendMessage({ ...say(words, details), configuration: { returnImmediately: true } }),
  ).id;
}

function until(state: TaskState): (event: StreamResponse) => boolean {
  return (event) => stateOf(event) === state;
}

/** How a task ended, and why. */
function endOf({ events }: Transcript): readonly [TaskState | undefined, string | undefined] {
  const last = events.at(-1);
  const status = last?.payload.case === "statusUpdate" ? last.payload.value.status : undefined;
  return [status?.state, readLifecycleReport(status?.message?.metadata).reason];
}

describe("a clock that is set forward", () => {
  it("times a question out", async () => {
    const stage = await openStage();
    const asked = await sendAndFollow(stage.service, say("ask"), { wire, key: crypto.randomUUID() });
    stage.clock.jump(9 * minute);
    stage.clock.jump(2 * minute);
    const transcript = await follow(stage.service, asked.taskId, { wire, seen: asked });
    expect(endOf(transcript)).toEqual([TaskState.CANCELED, "input-timeout"]);
  });

  it("ends a sleep", async () => {
    const stage = await openStage();
    const id = await send(stage, "sleep");
    const begun = await follow(stage.service, id, { wire, until: until(TaskState.WORKING) });
    stage.clock.jump(hour + minute);
    expect(endOf(await follow(stage.service, id, { wire, seen: begun }))[0]).toBe(TaskState.COMPLETED);
  });

  it("lets a deadline pass", async () => {
    const stage = await openStage();
    const deadline = new Date(stage.clock.now() + 5 * minute).toISOString();
    const id = await send(stage, "inbox", { metadata: { [lifecycleExtension]: { deadline } } });
    const begun = await follow(stage.service, id, { wire, until: until(TaskState.WORKING) });
    stage.clock.jump(6 * minute);
    const transcript = await follow(stage.service, id, { wire, seen: begun });
    expect(endOf(transcript)).toEqual([TaskState.CANCELED, "deadline"]);
  });
});

describe("a clock that is set back", () => {
  it("takes no status back, and a question waits until its time by that clock", async () => {
    const stage = await openStage();
    const asked = await sendAndFollow(stage.service, say("ask"), { wire, key: crypto.randomUUID() });
    stage.clock.jump(-hour);
    // Its time is an hour and ten minutes away now; a wrong answer shows that it still waits.
    const client = await stage.service.client(wire);
    await client.sendMessage(say("perhaps", { taskId: asked.taskId }));
    stage.clock.jump(hour + 11 * minute);
    const transcript = await follow(stage.service, asked.taskId, { wire, seen: asked });
    expect(findOddities(transcript)).toEqual([]);
    expect(endOf(transcript)).toEqual([TaskState.CANCELED, "input-timeout"]);
  });

  it("while the server was away changes nothing that is seen", async () => {
    const stage = await openStage();
    const id = await send(stage, "inbox");
    const begun = await follow(stage.service, id, { wire, until: until(TaskState.WORKING) });
    stage.clock.jump(-hour);
    await stage.restart();
    await send(stage, "one", { taskId: id });
    await send(stage, "two", { taskId: id });
    const transcript = await follow(stage.service, id, { wire, seen: begun });
    expect(findOddities(transcript)).toEqual([]);
    expect(endOf(transcript)[0]).toBe(TaskState.COMPLETED);
    expect(transcript.events).toHaveLength(5);
  });
});

it("a clock that jumps all the time changes nothing that is seen", {
  timeout: isLong ? 300_000 : 120_000,
}, async () => {
  await using webhooks = await startReceiver();
  // What sleeps when it is set back sleeps until that time has come again: a quick clock makes that short.
  const clock = createChangedClock({ speed: 100 });
  const random = createRandom(1);
  let jumps = 0;
  let offset = 0;
  const stage = await openStage({
    ...clock,
    now() {
      if (random.between(1, 10) === 1) {
        // Up to four minutes either way: a question, which waits for ten, is never overdue.
        const next = random.between(-4 * minute, 4 * minute);
        clock.jump(next - offset);
        offset = next;
        jumps += 1;
      }
      return clock.now();
    },
  });
  const play = (seed: number) =>
    playScenario({ service: stage.service, random: createRandom(seed), webhooks });
  const undisturbed = await play(0);
  expect(findFaults(undisturbed)).toEqual([]);
  let comparedEvents = 0;
  for (let seed = 1; seed <= (isLong ? 200 : 10); seed++) {
    const verdict = judge(await play(seed), { undisturbed, dataDir: stage.dataDir });
    expect({ seed, problems: verdict.problems }).toEqual({ seed, problems: [] });
    comparedEvents += verdict.comparedEvents;
  }
  expect(jumps).toBeGreaterThan(100);
  report({
    fault: "a clock that is set forward and back by up to eight minutes at a time",
    times: count(jumps, "jumps"),
    compared: count(comparedEvents, "events"),
  });
});
