import { createEngineHarness, say, taskOf } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../../test-support/collect-garbage.ts";
import { defineAgent } from "../../agent/agent-definition.ts";

const kibibyte = 1_024;

/** An agent whose code ignores its signal, and what sends it messages and cancels their tasks. */
async function startDeaf(wait: () => Promise<void>, durable: boolean) {
  const card = { name: "Deaf" };
  const { client, clock } = await createEngineHarness({
    agent: durable
      ? defineAgent({
          card,
          durable,
          async *execute(task) {
            yield task.working();
            await wait();
          },
        })
      : defineAgent({
          card,
          async *execute(turn) {
            yield turn.working();
            await wait();
          },
        }),
    limits: { maxActiveBytes: 600 * kibibyte, maxShare: 1 },
  });
  const send = async (): Promise<string> => {
    const { message } = say("x".repeat(100 * kibibyte));
    return taskOf(await client.sendMessage({ message, configuration: { returnImmediately: true } })).id;
  };
  /** Sends messages and cancels their tasks until one is refused. @returns how many were taken */
  const sendUntilRefused = async (): Promise<number> => {
    for (let taken = 0; taken < 20; taken += 1) {
      const [id] = await Promise.allSettled([send()]);
      if (id.status === "rejected") {
        expect(id.reason).toMatchObject({ code: Code.ResourceExhausted });
        return taken;
      }
      const cancel = client.cancelTask({ id: id.value });
      await clock.advance(10_000);
      await cancel;
    }
    return 20;
  };
  return { send, sendUntilRefused };
}

for (const durable of [false, true]) {
  describe(`code of a ${durable ? "durable task" : "turn"} that ignores its signal`, () => {
    it("counts as memory of its caller after its task has ended, until it returns", async () => {
      const end = Promise.withResolvers<void>();
      const { send, sendUntilRefused } = await startDeaf(() => end.promise, durable);
      const taken = await sendUntilRefused();
      expect(taken).toBeGreaterThan(1);
      expect(taken).toBeLessThan(7);
      end.resolve();
      await expect.poll(async () => (await Promise.allSettled([send()]))[0].status).toBe("fulfilled");
    });

    it("counts no longer when it waits for what never comes, and was collected", async () => {
      const { send, sendUntilRefused } = await startDeaf(() => new Promise(() => {}), durable);
      expect(await sendUntilRefused()).toBeLessThan(7);
      const isTaken = async () => (await Promise.allSettled([send()]))[0].status === "fulfilled";
      expect(await collectGarbage(isTaken)).toBe(true);
    });
  });
}

/** The ways to end: code that cleans up behind its last event. */
const ends = {
  "a turn that replies": (tidy: () => Promise<void>) =>
    defineAgent({
      card: { name: "Tidy" },
      async *execute(turn) {
        try {
          yield turn.reply("done");
        } finally {
          await tidy();
        }
      },
    }),
  "a turn that completes its task": (tidy: () => Promise<void>) =>
    defineAgent({
      card: { name: "Tidy" },
      async *execute(turn) {
        try {
          yield turn.complete("done");
        } finally {
          await tidy();
        }
      },
    }),
  "a durable task that completes": (tidy: () => Promise<void>) =>
    defineAgent({
      card: { name: "Tidy" },
      durable: true,
      async *execute(task) {
        try {
          yield task.complete("done");
        } finally {
          await tidy();
        }
      },
    }),
  "a durable task that ends since it sleeps too often at a time": (tidy: () => Promise<void>) =>
    defineAgent({
      card: { name: "Tidy" },
      durable: true,
      async *execute(task) {
        try {
          yield task.working();
          await Promise.all(Array.from({ length: 100 }, () => task.sleep(1_000)));
        } finally {
          await tidy();
        }
      },
    }),
};

describe.each(Object.entries(ends))("code of %s", (_, agentOf) => {
  /** Sends large messages, one after the other. @returns how many of them were answered, and what sends another one */
  const sendAll = async (tidy: () => Promise<void>) => {
    const limits = { maxActiveBytes: 600 * kibibyte, maxShare: 1, maxTaskBytes: 256 * kibibyte };
    const { client, clock, log } = await createEngineHarness({ agent: agentOf(tidy), limits });
    const send = () => client.sendMessage(say("x".repeat(100 * kibibyte)));
    let answered = 0;
    for (let sent = 0; sent < 20; sent += 1) {
      const [answer] = await Promise.allSettled([send()]);
      if (answer.status === "fulfilled") answered += 1;
      else expect(answer.reason).toMatchObject({ code: Code.ResourceExhausted });
      await clock.settle();
    }
    for (const { error } of log) void (error as Error | undefined)?.stack; // until it is read, an error keeps all objects of its frames
    return { answered, send };
  };

  it("counts as memory of its caller while it cleans up behind its last event", async () => {
    const end = Promise.withResolvers<void>();
    const { answered, send } = await sendAll(() => end.promise);
    expect(answered).toBeGreaterThan(1);
    expect(answered).toBeLessThan(7);
    end.resolve();
    await expect.poll(async () => (await Promise.allSettled([send()]))[0].status).toBe("fulfilled");
  });

  it("does not count when it has nothing to wait for", async () => {
    const { answered } = await sendAll(async () => await Promise.resolve());
    expect(answered).toBe(20);
  });

  it("counts no longer when its cleaning up waits for what never comes, and was collected", async () => {
    const { answered, send } = await sendAll(() => new Promise(() => {}));
    expect(answered).toBeLessThan(7);
    const isTaken = async () => (await Promise.allSettled([send()]))[0].status === "fulfilled";
    expect(await collectGarbage(isTaken)).toBe(true);
  });
});
