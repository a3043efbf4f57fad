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

it("makes a default smaller for a heap that is smaller than 2 GiB", async () => {
  const [small, large] = [await defaultWith(512), await defaultWith(4_096)];
  expect(small).toBeGreaterThanOrEqual(250);
  expect(small).toBeLessThan(350); // V8 adds some for young objects
  expect(large).toBe(1_000);
});
