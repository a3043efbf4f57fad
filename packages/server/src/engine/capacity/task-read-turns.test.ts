import { setImmediate as nextTurn } from "node:timers/promises";
import { createEngineHarness, readStream, say, wordsOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { sendTask } from "../../../test-support/tasks.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";

const kibibyte = 1024;
const withKey = { headers: { "idempotency-key": "0123456789abcdef" } };

/** As many turns of the event loop as what does not wait for anything else needs, slices included. */
async function passTurns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await nextTurn();
}

/** Large and small tasks in a store that keeps what it has found until a test lets go of it. */
async function setUp() {
  const store = createMemoryTaskStore();
  const held = new Set<string>();
  const reading = new Map<string, () => void>();
  const { clientFrom } = await createEngineHarness({
    agent: {
      card: { name: "Agent" },
      async *execute(turn) {
        if (turn.text === "reply") yield turn.reply("hello");
        else if (turn.text === "ask") yield turn.inputRequired("Which?");
        else if (turn.text === "large")
          yield turn.artifact({ name: "text", text: "x".repeat(80 * kibibyte) });
      },
    },
    store: {
      ...store,
      async find(...args) {
        const [, taskId] = args;
        if (held.has(taskId)) {
          await new Promise<void>((resolve) => reading.set(taskId, resolve));
          reading.delete(taskId);
        }
        return store.find(...args);
      },
    },
  });
  const zoe = clientFrom("zoe's");
  const create = async (text: string) => (await sendTask(zoe, say(text))).id;
  const createHeld = async (text: string, count: number) => {
    const ids: string[] = [];
    for (let task = 0; task < count; task += 1) ids.push(await create(text));
    for (const id of ids) held.add(id);
    return ids;
  };
  /** Reads the tasks, one for each of eight callers in turn. @returns ends when all have their task */
  const readHeld = async (ids: readonly string[]) => {
    const read: string[] = [];
    for (const [at, id] of ids.entries()) {
      void clientFrom(`caller ${at % 8}`)
        .getTask({ id })
        .then((task) => read.push(task.id));
    }
    await passTurns();
    return async () => {
      let most = 0;
      while (reading.size > 0) {
        most = Math.max(most, reading.size);
        for (const letGo of reading.values()) letGo();
        await passTurns();
      }
      return { most, read: read.sort() };
    };
  };
  return { zoe, create, createHeld, readHeld };
}

describe("a caller of a small task", () => {
  it("waits for no large ones of eight others in any call; four of those are read at a time", async () => {
    const { zoe, create, createHeld, readHeld } = await setUp();
    const [ended, asks] = [await create("small"), await create("ask")];
    const reply = await zoe.sendMessage(say("reply"), withKey);
    const large = await createHeld("large", 24);
    const letGo = await readHeld(large);
    const answers: Record<string, unknown> = {};
    const note = async (name: string, answer: Promise<unknown>) => {
      answers[name] = await answer;
    };
    void note(
      "get",
      zoe.getTask({ id: ended }).then(({ id }) => id),
    );
    void note(
      "answer",
      sendTask(zoe, say("that", { taskId: asks })).then(({ id }) => id),
    );
    void note("repeat", zoe.sendMessage(say("reply"), withKey));
    void note(
      "none",
      zoe.getTask({ id: "no-task" }).catch(({ rawMessage }) => rawMessage),
    );
    const rest = readStream((signal) =>
      zoe.subscribeToTask({ id: ended }, { signal, headers: { "last-event-id": "1" } }),
    );
    // On a busy machine slices of small tasks take more turns.
    for (let times = 0; times < 100 && Object.keys(answers).length < 4; times += 1) await passTurns();
    expect(answers).toEqual({ get: ended, answer: asks, repeat: reply, none: "there is no such task" });
    expect(wordsOf(rest.events)).toEqual(["completed"]);
    expect(await letGo()).toEqual({ most: 4, read: large.sort() });
  });

  it("waits for other small ones: four of those are read at a time beside the large ones", async () => {
    const { createHeld, readHeld } = await setUp();
    const tasks = [...(await createHeld("large", 8)), ...(await createHeld("small", 24))];
    const letGo = await readHeld(tasks);
    expect(await letGo()).toEqual({ most: 8, read: tasks.sort() });
  });
});
