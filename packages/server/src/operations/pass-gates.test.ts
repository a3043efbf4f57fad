import type { AuthGate, Verdict } from "@a2a-connect/auth";
import { findA2AError } from "@a2a-connect/core";
import { createEngineHarness, readStream, say } from "@a2a-connect/testing";
import type { CallOptions } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";

/** Answers when the test says so. */
class SlowGate implements AuthGate {
  readonly scheme: AuthGate["scheme"] = {
    scheme: { case: "httpAuthSecurityScheme", value: { scheme: "Basic" } },
  };
  readonly challenge = { scheme: "Basic" };
  readonly hasScopes = false;
  /** How many calls wait for its answer. */
  waiting = 0;
  #answer = Promise.withResolvers<Verdict>();

  verify(): Promise<Verdict> {
    this.waiting += 1;
    return this.#answer.promise;
  }

  answer(verdict: Verdict): void {
    this.waiting = 0;
    this.#answer.resolve(verdict);
    this.#answer = Promise.withResolvers();
  }
}

const large = say("x".repeat(8 * 2 ** 20));
const short = say("x");

/** The reason of a refusal; `passed` when there is none. */
function outcomeOf(call: Promise<unknown>): Promise<string | undefined> {
  return call.then(
    () => "passed",
    (error: unknown) => findA2AError(error)?.reason,
  );
}

describe("messages whose senders' credentials are being checked", () => {
  async function startAgent() {
    const gate = new SlowGate();
    const { clientFrom } = await createEngineHarness({
      agent: {
        card: { name: "Agent" },
        async *execute(turn) {
          yield turn.complete();
        },
      },
      auth: { gates: { gate }, scopes: false },
    });
    const open = (network: string) => {
      const client = clientFrom(network);
      return {
        send: (message: typeof large, options?: CallOptions) =>
          outcomeOf(client.sendMessage(message, options)),
        stream: (message: typeof large) =>
          outcomeOf(readStream((signal) => client.sendStreamingMessage(message, { signal })).ended),
      };
    };
    return { gate, greedy: open("192.0.2.1"), other: open("192.0.2.2") };
  }

  it("count for their sender's address", async () => {
    const { gate, greedy, other } = await startAgent();
    const waiting = [
      ...Array.from({ length: 4 }, () => greedy.send(large)),
      ...Array.from({ length: 3 }, () => greedy.stream(large)),
    ];
    await expect.poll(() => gate.waiting).toBe(7);
    expect(await greedy.send(large)).toBe("CAPACITY");
    expect(await greedy.stream(large)).toBe("CAPACITY");
    waiting.push(greedy.send(short), other.send(large), other.stream(large));
    await expect.poll(() => gate.waiting).toBe(12);
    gate.answer({ refused: "the password is wrong" });
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(["UNAUTHENTICATED"]));
  });

  it("do not count any more when the call has passed or was refused", async () => {
    const { gate, greedy } = await startAgent();
    for (const [verdict, outcome] of [
      [{ refused: "the password is wrong" }, "UNAUTHENTICATED"],
      [{ principal: "alice", scopes: [], claims: {} }, "passed"],
      [{ principal: "alice", scopes: [], claims: {} }, "passed"],
    ] as const) {
      const calls = Array.from({ length: 7 }, () => greedy.send(large));
      await expect.poll(() => gate.waiting).toBe(calls.length);
      gate.answer(verdict);
      expect(new Set(await Promise.all(calls))).toEqual(new Set([outcome]));
    }
  });

  it("do not count any more when their senders have gone, however long the answer takes", async () => {
    const { gate, greedy } = await startAgent();
    const hangUp = new AbortController();
    const left = Array.from({ length: 7 }, () => greedy.send(large, { signal: hangUp.signal }));
    await expect.poll(() => gate.waiting).toBe(7);
    hangUp.abort();
    await Promise.all(left);
    const calls = Array.from({ length: 7 }, () => greedy.send(large));
    await expect.poll(() => gate.waiting).toBe(14);
    gate.answer({ principal: "alice", scopes: [], claims: {} });
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["passed"]));
  });
});
