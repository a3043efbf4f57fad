// Connections that break at any byte, on every wire: what a caller is missing afterwards is what it is sent.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findA2AError } from "@a2a-connect/core";
import { idempotencyKeyHeader } from "@a2a-connect/core/internal";
import { type A2AClient, type AgentHarness, say, startAgentHarness, taskOf } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cut, type CuttingProxy, startCuttingProxy } from "./cutting-proxy.ts";
import { openEffects } from "./effects.ts";
import { createFaultAgent } from "./fault-agent.ts";
import { createRandom } from "./random.ts";
import { count, isLong, report } from "./report.ts";
import { connect, createService, type Service, wireNames } from "./service.ts";
import { findOddities, follow, normalize, sendAndFollow, type Transcript } from "./transcript.ts";

/** How often a stream is cut before it may come to its end. */
const cutsOfStream = 6;
/** How many streams and requests of each wire are cut in a short run; a long one cuts at every byte of the first. */
const seeds = 6;

const directory = mkdtempSync(join(tmpdir(), "a2a-cuts-"));
let harness: AgentHarness;
const totals = { streamCuts: 0, requestCuts: 0, events: 0, requests: 0 };

beforeAll(async () => {
  harness = await startAgentHarness({ agent: createFaultAgent(openEffects(directory)), store: "sqlite" });
});

afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
  report({
    fault: "a connection cut after any number of response bytes, on every wire",
    times: count(totals.streamCuts, "cuts"),
    compared: count(totals.events, "events"),
  });
  report({
    fault: "a connection cut in the middle of a request with an idempotency key, on every wire",
    times: count(totals.requestCuts, "cuts"),
    compared: count(totals.requests, "tasks"),
  });
});

/** The server behind the proxy, for a caller whose every error has to be the fault of the proxy. */
function behind(proxy: CuttingProxy): Service {
  return createService(async () => {
    const before = proxy.cuts;
    return {
      url: proxy.url,
      isLost: async (error) => findA2AError(error) === undefined && proxy.cuts > before,
    };
  });
}

function expectSame(transcript: Transcript, undisturbed: Transcript, about: object): void {
  totals.events += transcript.events.length;
  const problems = [...findOddities(transcript)];
  expect({ ...about, problems, events: normalize(transcript) }).toEqual({
    ...about,
    problems: [],
    events: normalize(undisturbed),
  });
}

describe.each(wireNames)("over %s", (wire) => {
  it("a stream that is cut after any of its bytes is whole when its reader comes back", {
    timeout: isLong ? 600_000 : 120_000,
  }, async () => {
    await using proxy = await startCuttingProxy(harness.url);
    const service = behind(proxy);
    const send = () => sendAndFollow(service, say("stream"), { wire, key: crypto.randomUUID() });
    const undisturbed = await send();
    const { taskId } = undisturbed;
    const before = proxy.responseBytes;
    await follow(service, taskId, { wire });
    const length = proxy.responseBytes - before;
    expect(length).toBeGreaterThan(1_000);

    // A finished task: all of its events are there at once, and each byte of them may be the last to arrive.
    const step = isLong ? 1 : Math.ceil(length / 12);
    for (let at = 0; at <= length; at += step) {
      await using cutter = await startCuttingProxy(harness.url);
      cutter.cutNext({ afterResponseBytes: at });
      expectSame(await follow(behind(cutter), taskId, { wire }), undisturbed, { at });
      totals.streamCuts += cutter.cuts;
    }

    // A running one, over and over: the caller is cut off from its first request as well as from its later ones.
    for (let seed = 1; seed <= seeds * (isLong ? 10 : 1); seed++) {
      const random = createRandom(seed);
      await using cutter = await startCuttingProxy(harness.url);
      cutter.cutNext(
        ...Array.from(
          { length: cutsOfStream },
          (): Cut => ({ afterResponseBytes: random.between(0, length) }),
        ),
      );
      const key = crypto.randomUUID();
      expectSame(await sendAndFollow(behind(cutter), say("stream"), { wire, key }), undisturbed, { seed });
      totals.streamCuts += cutter.cuts;
    }
  });

  it("a request that is cut while it is sent makes one task, however often it is repeated", {
    timeout: isLong ? 600_000 : 120_000,
  }, async () => {
    const contextId = crypto.randomUUID();
    const request = () => say(`stream ${"x".repeat(200)}`, { contextId, messageId: crypto.randomUUID() });
    const send = (body: ReturnType<typeof request>, key: string) => (client: A2AClient) =>
      client.sendMessage(body, { headers: { [idempotencyKeyHeader]: key } });
    await using proxy = await startCuttingProxy(harness.url);
    await behind(proxy).persist(wire, send(request(), crypto.randomUUID()));
    const length = proxy.requestBytes;
    expect(length).toBeGreaterThan(200);

    const direct = connect(wire, harness.url);
    let sent = 1;
    const step = isLong ? 1 : Math.ceil(length / 12);
    for (let at = 0; at <= length; at += step) {
      await using cutter = await startCuttingProxy(harness.url);
      // Cut while it is sent, again while it is answered, and then let through.
      cutter.cutNext({ afterRequestBytes: at }, { afterResponseBytes: at % 97 });
      const body = request();
      const key = crypto.randomUUID();
      const answer = await behind(cutter).persist(wire, send(body, key));
      sent += 1;
      expect(taskOf(await send(body, key)(direct)).id, `cut after ${at} bytes`).toBe(taskOf(answer).id);
      totals.requestCuts += cutter.cuts;
    }
    expect((await direct.listTasks({ contextId, pageSize: 1 })).totalSize).toBe(sent);
    totals.requests += sent;
  });
});
