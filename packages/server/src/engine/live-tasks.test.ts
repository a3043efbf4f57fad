import { createEngineHarness, say, wordsOf } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { createHeldStore } from "../../test-support/held-store.ts";
import { sendTask, subscribe } from "../../test-support/tasks.ts";

/** Lets so many promises go first. */
async function pass(promises: number): Promise<void> {
  for (let passed = 0; passed < promises; passed++) await Promise.resolve();
}

/** How long reading a task takes, in promises: one caller lets go of it just when the other has read it. */
const readTimes = [1, 2, 3];

it.each(readTimes)(
  "finds a task that another caller lets go of meanwhile (read in %i promises)",
  async (time) => {
    for (let later = 0; later < 40; later++) {
      const store = createHeldStore();
      const { client, clock } = await createEngineHarness({
        agent: {
          card: { name: "Agent" },
          *execute(turn) {
            yield turn.inputRequired("Which?");
          },
        },
        store: {
          ...store,
          async find(...args) {
            await pass(time);
            return store.find(...args);
          },
        },
      });
      const { id } = await sendTask(client);
      store.failClaims(new ConnectError("the store cannot be written", Code.Unavailable));
      const answer = client.sendMessage(say("that", { taskId: id }));
      answer.catch(() => {}); // it is refused, and lets go of the task
      await pass(later);
      const stream = subscribe(client, id);
      await clock.settle();
      expect([wordsOf(stream.events), stream.open]).toEqual([["task input-required"], true]);
    }
  },
);

it("gives a reader that comes just when an event is committed that event once: in the task, or after it", async () => {
  const seen = new Set<string>();
  for (let time = 0; time < 60; time++) {
    const store = createHeldStore();
    const slow = {
      ...store,
      async commit(...args: Parameters<typeof store.commit>) {
        const result = await store.commit(...args);
        await pass(time);
        return result;
      },
    };
    const { client, startTask, clock } = await startScripted({}, { store: slow });
    const { id, turn, yields } = await startTask();
    store.hold();
    await yields(turn.inputRequired("Which?"));
    await clock.settle();
    store.release();
    const stream = subscribe(client, id);
    await clock.settle();
    seen.add(wordsOf(stream.events).join(", "));
  }
  expect(seen).toEqual(new Set(["task working, input-required", "task input-required"]));
});
