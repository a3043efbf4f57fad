import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

/** What a program of one of these modules prints in a process with so much heap. */
async function print(mebibytes: number, file: string, names: string, program: string): Promise<number> {
  const source = `import { ${names} } from ${JSON.stringify(new URL(file, import.meta.url))}; ${program}`;
  const args = [`--max-old-space-size=${mebibytes}`, "--input-type=module", "--eval", source];
  return Number((await run(process.execPath, args)).stdout);
}

it.each([
  [100, 29],
  [512, 235],
  [1_024, 490],
  [2_048, 1_000],
  [4_096, 1_000],
])("of a default of 1,000, a process with an old space of %i MiB has %i", async (mebibytes, expected) => {
  const program = "console.log(scaleToHeap(1_000))";
  expect(await print(mebibytes, "./heap.ts", "scaleToHeap", program)).toBe(expected);
});

it("a small heap keeps fewer of the long texts that were made or decoded", async () => {
  const made = `const kept = new KeptTexts();
    const keys = Array.from({ length: 200 }, () => ({}));
    for (const key of keys) kept.set(key, "x".repeat(100_000));
    console.log(keys.filter((key) => kept.get(key) !== undefined).length);`;
  const decoded = `const keys = Array.from({ length: 200 }, () => ({ value: "x" }));
    for (const key of keys) keepEncodedText(key, new Uint8Array(2 ** 20));
    console.log(keys.filter((key) => encodedText(key, "x") !== undefined).length);`;
  expect(await print(512, "./kept-texts.ts", "KeptTexts", made)).toBeLessThan(25); // 83 with 2 GiB
  const names = "encodedText, keepEncodedText";
  expect(await print(512, "./binary/encoded-texts.ts", names, decoded)).toBeLessThan(25); // 64 with 2 GiB
});
