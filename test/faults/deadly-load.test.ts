// A task whose reading ends the process, as one does that fills the memory: real processes over one SQLite file.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { temporaryDirectory } from "./agent-process.ts";

/** One start of a server. It tells what became of the tasks, unless `deadly`, the text of one of them, ends it. */
const main = `
  import { createEngineHarness, createFakeClock, reasonOf, say } from "@a2a-connect/testing";
  import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
  import { setImmediate as nextImmediate } from "node:timers/promises";
  const [file, ...texts] = process.argv.slice(1);
  const sqlite = createSqliteTaskStore({ file });
  const dieOf = (stored) => {
    if (stored?.entries.some(({ payload }) => Buffer.from(payload).includes("deadly"))) process.kill(process.pid, "SIGKILL");
    return stored;
  };
  const store = texts.length > 0 ? sqlite : { ...sqlite, find: async (...args) => dieOf(await sqlite.find(...args)) };
  async function* execute(task) {
    yield task.working();
    if (texts.length > 0) await task.step("never", () => new Promise(() => {}));
  }
  const agent = { card: { name: "Durable" }, durable: true, execute };
  const { client } = await createEngineHarness({ agent, store, clock: createFakeClock(), randomId: () => crypto.randomUUID() });
  for (const text of texts) await client.sendMessage({ ...say(text), configuration: { returnImmediately: true } });
  const passing = texts.length > 0 ? ["1 "] : ["1 ", "2 "]; // SUBMITTED, WORKING
  for (;;) {
    const { tasks } = await client.listTasks({ historyLength: 0 });
    const states = tasks.map((task) => task.status.state + " " + (reasonOf(task) ?? "")).sort();
    if (!states.some((state) => passing.includes(state))) {
      console.log(JSON.stringify(states));
      process.exit();
    }
    await nextImmediate();
  }
`;

function start(file: string, ...texts: string[]): { signal: NodeJS.Signals | null; states: unknown } {
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  const { signal, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", main, "--", file, ...texts],
    { cwd, encoding: "utf8" },
  );
  if (signal === null && stdout === "") expect.fail(`the server ended without a word: ${stderr}`);
  return { signal, states: stdout === "" ? undefined : JSON.parse(stdout) };
}

it("a task that ends each process which reads it is FAILED at the third start, and all others run", {
  timeout: 60_000,
}, () => {
  const file = join(temporaryDirectory(), "tasks.sqlite");
  const working = "2 ";
  const texts = ["one", "two", "deadly", "three", "four"];
  expect(start(file, ...texts)).toEqual({ signal: null, states: texts.map(() => working) });
  expect(start(file).signal).toBe("SIGKILL");
  expect(start(file).signal).toBe("SIGKILL");
  const completed = "3 ";
  expect(start(file)).toEqual({
    signal: null,
    states: [completed, completed, completed, completed, "4 unloadable"],
  });
});
