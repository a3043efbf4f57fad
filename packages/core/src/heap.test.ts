import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

/** What a process with so much heap makes of a default of 1,000. */
async function defaultWith(mebibytes: number): Promise<number> {
  const heap = new URL("./heap.ts", import.meta.url);
  const program = `import { scaleToHeap } from ${JSON.stringify(heap)}; console.log(scaleToHeap(1_000));`;
  const args = [`--max-old-space-size=${mebibytes}`, "--input-type=module", "--eval", program];
  return Number((await run(process.execPath, args)).stdout);
}

it.each([
  [100, 29],
  [512, 235],
  [1_024, 490],
  [2_048, 1_000],
  [4_096, 1_000],
])("of a default of 1,000, a process with an old space of %i MiB has %i", async (mebibytes, expected) => {
  expect(await defaultWith(mebibytes)).toBe(expected);
});
