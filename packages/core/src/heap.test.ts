import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

/** What a program of one of these modules prints in a process with these options. */
async function print(
  options: string,
  file: string,
  names: string,
  program: string,
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const source = `import { ${names} } from ${JSON.stringify(new URL(file, import.meta.url))}; ${program}`;
  const args = [...options.split(" ").filter(Boolean), "--input-type=module", "--eval", source];
  return Number((await run(process.execPath, args, { env: { ...process.env, ...env } })).stdout);
}

it.each([
  ["--max-old-space-size=50", 10],
  ["--max-old-space-size=100", 29],
  ["--max_old_space_size=512", 235],
  ["--max-old-space-size=1024 --max-semi-space-size=16", 490],
  ["--max-old-space-size=2048", 1_000],
  ["--max-old-space-size=4096", 1_000],
  ["--max-heap-size=768 --max-semi-space-size=64", 266],
  ["--max-heap-size=256", 96], // V8 divides it as it divides what a small container has
])("of a default of 1,000, a process with %s has %i", async (options, expected) => {
  expect(await print(options, "./heap.ts", "scaleToHeap", "console.log(scaleToHeap(1_000))")).toBe(expected);
});

it("the options that NODE_OPTIONS has count, too", async () => {
  const env = { NODE_OPTIONS: "--max-old-space-size=1024 --no-warnings" };
  expect(await print("", "./heap.ts", "scaleToHeap", "console.log(scaleToHeap(1_000))", env)).toBe(490);
});

it("a small heap keeps fewer of the long texts that were made or decoded", async () => {
  const made = `const kept = new KeptTexts();
    const keys = Array.from({ length: 200 }, () => ({}));
    for (const key of keys) kept.set(key, "x".repeat(100_000));
    console.log(keys.filter((key) => kept.get(key) !== undefined).length);`;
  const decoded = `const keys = Array.from({ length: 200 }, () => ({ value: "x" }));
    for (const key of keys) keepEncodedText(key, new Uint8Array(2 ** 20));
    console.log(keys.filter((key) => encodedText(key, "x") !== undefined).length);`;
  expect(await print("--max-old-space-size=512", "./kept-texts.ts", "KeptTexts", made)).toBeLessThan(25); // 83 with 2 GiB
  const names = "encodedText, keepEncodedText";
  expect(await print("--max-old-space-size=512", "./binary/encoded-texts.ts", names, decoded)).toBeLessThan(
    25,
  ); // 64 with 2 GiB
});
