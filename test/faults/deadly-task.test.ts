// A task that ends the process when it is read, or when its executor runs, as one does that fills the memory: real processes over one
// SQLite file.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bundleProgram } from "../../packages/cli/test-support/bundled-program.ts";
import { temporaryDirectory } from "./agent-process.ts";
import type { DeathCause } from "./deadly-agent.ts";

const main = await bundleProgram(new URL("deadly-agent.ts", import.meta.url));

/** One start of a server, on this file. */
function start(
  cause: DeathCause,
  file: string,
  ...texts: string[]
): { signal: NodeJS.Signals | null; states: unknown } {
  const args = [main, cause, file, ...texts];
  const { signal, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (signal === null && stdout === "") expect.fail(`the server ended without a word: ${stderr}`);
  return { signal, states: stdout === "" ? undefined : JSON.parse(stdout) };
}

const cases: readonly (readonly [what: string, cause: DeathCause, deaths: number, reason: string])[] = [
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
