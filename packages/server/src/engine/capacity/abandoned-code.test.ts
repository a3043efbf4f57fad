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
