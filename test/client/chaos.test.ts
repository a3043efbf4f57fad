// The client behind a proxy that drops, delays, splits and truncates, on every wire: it sees what it sees without one.
// A2A_LONG=1 takes 400 seeds, A2A_SEED=7 that one alone.

import type { AgentClient } from "@a2a-connect/client";
import { text } from "@a2a-connect/core";
import { lastEventIdHeader } from "@a2a-connect/core/internal";
import { connectAgent } from "@a2a-connect/node/client";
import { type AgentCard, type StreamResponse, StreamResponseSchema, TaskState } from "@a2a-connect/proto";
import { type AgentHarness, startAgentHarness, type Wire, wires } from "@a2a-connect/testing";
import { create, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from "vitest";
import { collect } from "../../packages/client/test-support/outcomes.ts";
import { createRandom } from "../faults/random.ts";
import { isLong } from "../faults/report.ts";
import { chaosAgent, questions, wholeStory } from "./chaos-agent.ts";
import { type ChaosProxy, startChaosProxy } from "./chaos-proxy.ts";
import { bindingOf, moveCard } from "./interfaces.ts";
import { describeOrdeal, planOrdeals } from "./ordeal.ts";

const chosen = process.env["A2A_SEED"];
const seeds: readonly number[] =
  chosen === undefined
    ? Array.from({ length: isLong ? 400 : 12 }, (_, index) => index + 1)
    : [Number(chosen)];

let harness: AgentHarness;
let card: AgentCard;
const direct = {} as Record<Wire, AgentClient>; // filled before the first test
const totals = { runs: 0, connections: 0, ended: 0 };

beforeAll(async () => {
  harness = await startAgentHarness({ agent: chaosAgent });
  for (const wire of wires) {
    direct[wire] = await connectAgent(harness.url, { pinBinding: bindingOf[wire] });
    card = direct[wire].card;
  }
});

afterAll(async () => {
  for (const agent of Object.values(direct)) await agent.close();
  await harness[Symbol.asyncDispose]();
  console.log(
    `chaos: ${totals.runs} runs over ${totals.connections} connections, of which ${totals.ended} came to a bad end`,
  );
  expect(totals.runs).toBe(seeds.length * wires.length);
  expect(totals.ended).toBeGreaterThan(chosen === undefined ? totals.runs / 4 : -1);
});

/**
 * Connects through the proxy, with limits that make up for a bad end soon. A machine may be busy for half a second: a client that takes
 * that for silence asks for the task instead, and so sees several chunks as one.
 */
function connectThrough(proxy: ChaosProxy, wire: Wire): Promise<AgentClient> {
  return connectAgent(moveCard(card, harness.url, proxy.url), {
    pinBinding: bindingOf[wire],
    connectTimeoutMs: 1_000,
    requestTimeoutMs: 1_000,
    idleTimeoutMs: 1_000,
    retry: { attempts: 10, initialDelayMs: 1, maxDelayMs: 10, giveUpAfterMs: 15_000 },
  });
}

describe.each(wires)("over %s", (wire) => {
  describe.concurrent("whatever becomes of its connections", () => {
    it.for(seeds)("seed %i: the client sees every event once and in order", async (seed) => {
      const random = createRandom(seed);
      const way = random.between(0, 2);
      const ordeals = planOrdeals(random);
      await using proxy = await startChaosProxy(harness.url, ordeals);
      onTestFailed(() => {
        const plan = ordeals.map((ordeal, index) => `  connection ${index + 1}: ${describeOrdeal(ordeal)}`);
        console.error(
          `chaos: A2A_SEED=${seed} over ${wire}, ${wayNames[way]}, ${proxy.connections} connections\n${plan.join("\n")}`,
        );
      });
      await using agent = await connectThrough(proxy, wire);
      await [checkRun, checkStream, checkFollow][way]?.(agent, wire);
      totals.runs += 1;
      totals.connections += proxy.connections;
      totals.ended += proxy.ended;
    });
  });
});

const wayNames = ["run", "stream", "follow"] as const;

/** `run` answers the questions itself; its callbacks are told of every update once. */
async function checkRun(agent: AgentClient, wire: Wire): Promise<void> {
  const contextId = crypto.randomUUID();
  const updates: StreamResponse[] = [];
  const note = (payload: StreamResponse["payload"]): void =>
    void updates.push(create(StreamResponseSchema, { payload }));
  const result = await agent.run(
    { parts: "Tell me.", contextId },
    {
      onInputRequired: ({ text: asked }) => questions.find(({ text }) => text === asked)?.answer,
      onProgress: (value) => note({ case: "statusUpdate", value }),
      onArtifact: (value) => note({ case: "artifactUpdate", value }),
    },
  );
  expect(result.artifact("story").text()).toBe(wholeStory());
  expect(result.artifact("end").json()).toEqual({ end: "happy", letters: "ä語🌍" });

  const { id } = await onlyTask(contextId, wire);
  expect(result.task?.id).toBe(id);
  const [, ...transcript] = await readTranscript(id, wire);
  expect(updates.map(show)).toEqual(transcript.map(show));
}

/** `stream` up to each question, answers that are streams themselves, and all of it once more in the end. */
async function checkStream(agent: AgentClient, wire: Wire): Promise<void> {
  const contextId = crypto.randomUUID();
  const begin = agent.stream({ parts: [text("Tell me.")], contextId });
  const streams = [begin];
  const seen = [await collect(begin)];
  const { id } = await onlyTask(contextId, wire);
  for (const { answer } of questions) {
    const stream = agent.stream({ parts: answer, taskId: id });
    streams.push(stream);
    // The stream of an answer begins with the task as it is: what was streamed before is in it.
    const [first, ...others] = await collect(stream);
    expect(first?.payload.case).toBe("task");
    seen.push(others);
  }

  const transcript = await readTranscript(id, wire);
  for (const [index, events] of seen.entries()) {
    const end = streams[index]?.lastEventId ?? 0;
    expect(events.map(show)).toEqual(transcript.slice(end - events.length, end).map(show));
  }
  expect(begin.lastEventId).toBe(seen[0]?.length);
  const again = agent.follow(id, { after: 0 });
  expect((await collect(again)).map(show)).toEqual(transcript.map(show));
  expect(again.task?.status?.state).toBe(TaskState.COMPLETED);
}

/** `follow` from the creation on, while somebody else works with the task. */
async function checkFollow(agent: AgentClient, wire: Wire): Promise<void> {
  const begin = await direct[wire].sendMessage("Tell me.", { returnImmediately: true });
  const id = begin.payload.case === "task" ? begin.payload.value.id : "";
  const followed = agent.follow(id, { after: 0 });
  const events: StreamResponse[] = [];
  for await (const event of followed) {
    events.push(event);
    const asked = questionOf(event);
    if (asked !== undefined)
      await agent.sendMessage({ parts: asked.answer, taskId: id }, { returnImmediately: true });
  }
  const transcript = await readTranscript(id, wire);
  expect(events.map(show)).toEqual(transcript.map(show));
  expect(followed.lastEventId).toBe(transcript.length);
  // What callers say is in no event, so only the agent knows the whole history.
  expect({ ...followed.task, history: [] }).toEqual({ ...(await direct[wire].getTask(id)), history: [] });
}

function questionOf({ payload }: StreamResponse): (typeof questions)[number] | undefined {
  if (payload.case !== "statusUpdate" || payload.value.status?.state !== TaskState.INPUT_REQUIRED)
    return undefined;
  const [part] = payload.value.status.message?.parts ?? [];
  return questions.find(({ text }) => part?.content.case === "text" && part.content.value === text);
}

/** The task in a context that has one. */
async function onlyTask(contextId: string, wire: Wire): Promise<{ readonly id: string }> {
  const tasks = await collect(direct[wire].listTasks({ contextId }));
  expect(tasks).toHaveLength(1);
  return { id: tasks[0]?.id ?? "" };
}

/** What there is of a finished task, from its creation on, as a client of its own sees it without a proxy. */
function readTranscript(id: string, wire: Wire): Promise<StreamResponse[]> {
  return collect(harness.clients[wire].subscribeToTask({ id }, { headers: { [lastEventIdHeader]: "0" } }));
}

function show(event: StreamResponse): unknown {
  return toJson(StreamResponseSchema, event);
}
