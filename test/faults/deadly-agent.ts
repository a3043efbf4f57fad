// node deadly-agent.ts CAUSE FILE [TEXT…]: one start of a server, with new tasks of these texts, or with the tasks of the file. It tells what
// became of them, unless `deadly`, the text of one of them, ends it.

import { setTimeout } from "node:timers/promises";
import type { DurableAgent, TaskStore } from "@a2a-connect/server";
import type { StoredTask } from "@a2a-connect/server/store";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { createEngineHarness, createFakeClock, reasonOf, say } from "@a2a-connect/testing";

/** What a deadly task ends the process by: that it is read, or that its executor runs. */
export type DeathCause = "load" | "run";

const [cause, file = "", ...texts] = process.argv.slice(2);

const sqlite = createSqliteTaskStore({ file });
const dieOf = (stored: StoredTask | undefined): StoredTask | undefined => {
  if (stored?.entries.some(({ payload }) => Buffer.from(payload).includes("deadly"))) die();
  return stored;
};
const deadly: TaskStore = { ...sqlite, find: async (...args) => dieOf(await sqlite.find(...args)) };

const agent: DurableAgent = {
  card: { name: "Durable" },
  durable: true,
  async *execute(task) {
    yield task.working();
    if (texts.length > 0) await task.step("never", () => new Promise(() => {}));
    if (task.text === "deadly") die();
    await task.step("work", () => setTimeout(100));
  },
};
const clock = createFakeClock();
const { client } = await createEngineHarness({
  agent,
  store: texts.length > 0 || cause === "run" ? sqlite : deadly,
  clock,
  randomId: () => crypto.randomUUID(),
});
for (const text of texts) {
  await client.sendMessage({ ...say(text), configuration: { returnImmediately: true } });
}

const passing = texts.length > 0 ? ["1 "] : ["1 ", "2 "]; // SUBMITTED, WORKING
for (;;) {
  const { tasks } = await client.listTasks({ historyLength: 0 });
  const states = tasks.map((task) => `${task.status?.state} ${reasonOf(task) ?? ""}`).sort();
  if (!states.some((state) => passing.includes(state))) {
    console.log(JSON.stringify(states));
    process.exit();
  }
  await clock.advance(100);
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
}
