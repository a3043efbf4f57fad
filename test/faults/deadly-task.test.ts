// A task that ends the process when it is read, or when its executor runs, as one does that fills the memory: real processes over one
// SQLite file.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { temporaryDirectory } from "./agent-process.ts";

/** What a deadly task ends the process by. */
type Cause = "load" | "run";

/** One start of a server. It tells what became of the tasks, unless `deadly`, the text of one of them, ends it. */
const main = `
  import { createEngineHarness, createFakeClock, reasonOf, say } from "@a2a-connect/testing";
  import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
  import { setTimeout } from "node:timers/promises";
  const [cause, file, ...texts] = process.argv.slice(1);
  const sqlite = createSqliteTaskStore({ file });
  const dieOf = (stored) => {
    if (stored?.entries.some(({ payload }) => Buffer.from(payload).includes("deadly"))) process.kill(process.pid, "SIGKILL");
    return stored;
  };
  const store = texts.length > 0 || cause === "run" ? sqlite : { ...sqlite, find: async (...args) => dieOf(await sqlite.find(...args)) };
  async function* execute(task) {
    yield task.working();
    if (texts.length > 0) await task.step("never", () => new Promise(() => {}));
    if (task.text === "deadly") process.kill(process.pid, "SIGKILL");
    await task.step("work", () => setTimeout(100));
  }
  const agent = { card: { name: "Durable" }, durable: true, execute };
  const clock = createFakeClock();
  const { client } = await createEngineHarness({ agent, store, clock, randomId: () => crypto.randomUUID() });
  for (const text of texts) await client.sendMessage({ ...say(text), configuration: { returnImmediately: true } });
  const passing = texts.length > 0 ? ["1 "] : ["1 ", "2 "]; // SUBMITTED, WORKING
  for (;;) {
    const { tasks } = await client.listTasks({ historyLength: 0 });
    const states = tasks.map((task) => task.status.state + " " + (reasonOf(task) ?? "")).sort();
    if (!states.some((state) => passing.includes(state))) {
      console.log(JSON.stringify(states));
      process.exit();
    }
    await clock.advance(100);
  }
`;

function start(
  cause: Cause,
  file: string,
  ...texts: string[]
): { signal: NodeJS.Signals | null; states: unknown } {
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  const { signal, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", main, "--", cause, file, ...texts],
    { cwd, encoding: "utf8" },
  );
  if (signal === null && stdout === "") expect.fail(`the server ended without a word: ${stderr}`);
  return { signal, states: stdout === "" ? undefined : JSON.parse(stdout) };
}

const cases: readonly (readonly [what: string, cause: Cause, deaths: number, reason: string])[] = [
  ["which reads it is FAILED at the third start", "load", 2, "unloadable"],
  ["in which its executor runs is FAILED at the seventh start", "run", 6, "interrupted"],
];

for (const [what, cause, deaths, reason] of cases) {
  it(`a task that ends each process ${what}, and all others run`, { timeout: 60_000 }, () => {
    const file = join(temporaryDirectory(), "tasks.sqlite");
    const [working, completed] = ["2 ", "3 "];
    const texts = ["one", "two", "deadly", "three", "four"];
    expect(start(cause, file, ...texts)).toEqual({ signal: null, states: texts.map(() => working) });
    for (let death = 0; death < deaths; death += 1) expect(start(cause, file).signal).toBe("SIGKILL");
    expect(start(cause, file)).toEqual({
      signal: null,
      states: [completed, completed, completed, completed, `4 ${reason}`],
    });
  });
}
