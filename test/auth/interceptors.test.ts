// What refused callers of streams are told where an interceptor of the operator does something of its own before it hands the
// stream on: a refusal that nothing awaits meanwhile would end the process.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { AuthGate } from "@a2a-connect/auth";
import { defineAgent } from "@a2a-connect/server";
import { say, startAgentHarness, wires } from "@a2a-connect/testing";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { watchRejections } from "../client/watch-rejections.ts";

watchRejections();

const agent = defineAgent({
  card: { name: "Guarded" },
  *execute(turn) {
    yield turn.reply("hello");
  },
});

/** Finds out a turn later that the credentials are wrong. */
const refusing: AuthGate = {
  scheme: { scheme: { case: "httpAuthSecurityScheme", value: { scheme: "Test" } } },
  challenge: { scheme: "Test" },
  hasScopes: false,
  async verify() {
    await nextTurn();
    return { refused: "the password is wrong" };
  },
};

/** Longer than a gate and the turn after it take. */
const manyTurns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
};

const waiting: Interceptor = (next) => async (request) => {
  const response = await next(request);
  await manyTurns();
  return response;
};

const failing: Interceptor = (next) => async (request) => {
  await next(request);
  throw new ConnectError("come back tomorrow", Code.ResourceExhausted);
};

async function readAll(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}

describe.each(wires)("a refused stream over %s", (wire) => {
  it.each(["sendStreamingMessage", "subscribeToTask"] as const)(
    "of %s is refused behind an interceptor that waits",
    async (operation) => {
      const auth = { gates: { refusing } };
      await using harness = await startAgentHarness({ agent, auth, wires: { interceptors: [waiting] } });
      const client = harness.client(wire);
      const stream =
        operation === "subscribeToTask"
          ? client.subscribeToTask({ id: "1" })
          : client.sendStreamingMessage(say("hi"));
      await expect(readAll(stream)).rejects.toMatchObject({ code: Code.Unauthenticated });
    },
  );

  it("fails with the error of an interceptor that never reads it", async () => {
    const auth = { gates: { refusing } };
    await using harness = await startAgentHarness({ agent, auth, wires: { interceptors: [failing] } });
    const stream = harness.client(wire).sendStreamingMessage(say("hi"));
    await expect(readAll(stream)).rejects.toThrow("come back tomorrow");
    await manyTurns();
  });
});
