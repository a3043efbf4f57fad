import { setImmediate as nextTurn } from "node:timers/promises";
import { type AgentDefinition, createMemoryTaskStore } from "@a2a-connect/server";
import { expect, it } from "vitest";
import { createGate } from "../test-support/handlers.ts";
import { callHttp2, openHttp2 } from "../test-support/http2-call.ts";
import { serve } from "./serve.ts";

const waiting = 300;
const scopes = ["a2a:tasks:create", "a2a:tasks:read"];

it.each(["SendMessage", "SendStreamingMessage"])(
  "few calls of %s go on in a turn when many waited for one answer of an authorization server",
  async (method) => {
    const answer = createGate();
    let asked = 0;
    let begun = 0;
    const agent: AgentDefinition = {
      card: { name: "Agent" },
      async *execute(turn) {
        begun += 1;
        yield turn.reply("hello");
      },
    };
    await using served = await serve(agent, {
      store: createMemoryTaskStore(),
      auth: {
        gates: {
          token: {
            scheme: { scheme: { case: "httpAuthSecurityScheme", value: { scheme: "Bearer" } } },
            challenge: { scheme: "Bearer" },
            hasScopes: false,
            async verify() {
              asked += 1;
              await answer.opened;
              return { principal: "alice", tenant: undefined, scopes, claims: {} };
            },
          },
        },
      },
    });
    using session = openHttp2(`http://127.0.0.1:${served.port}`);
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] };
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message } }));
    const head = {
      ":path": "/rpc",
      ":method": "POST",
      "content-type": "application/json",
      "a2a-version": "1.0",
    };
    const calls = Array.from({ length: waiting }, () => callHttp2(session, head, body));
    while (asked < waiting) await nextTurn();
    answer.open();
    let most = 0;
    for (let turns = 0, before = 0; begun < waiting && turns < 10_000; turns += 1, before = begun) {
      await nextTurn();
      most = Math.max(most, begun - before);
    }
    expect(begun).toBe(waiting);
    expect(most).toBeLessThanOrEqual(64);
    expect(new Set((await Promise.all(calls)).map(({ headers }) => headers[":status"]))).toEqual(
      new Set([200]),
    );
  },
);

it("a gate that waits learns that the caller has gone", async () => {
  const [asked, gone] = [createGate(), createGate()];
  await using served = await serve(
    { card: { name: "Agent" }, execute: () => [] },
    {
      store: createMemoryTaskStore(),
      auth: {
        gates: {
          token: {
            scheme: { scheme: { case: "httpAuthSecurityScheme", value: { scheme: "Bearer" } } },
            challenge: { scheme: "Bearer" },
            hasScopes: false,
            async verify({ signal }) {
              signal?.addEventListener("abort", gone.open);
              asked.open();
              await gone.opened;
              return { refused: "too late" };
            },
          },
        },
      },
    },
  );
  const caller = new AbortController();
  const call = fetch(`http://127.0.0.1:${served.port}/rest/tasks/1`, {
    headers: { "a2a-version": "1.0" },
    signal: caller.signal,
  });
  await asked.opened;
  caller.abort();
  await expect(call).rejects.toThrow("aborted");
  await gone.opened;
});
