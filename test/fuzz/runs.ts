import fc from "fast-check";

const isLong = process.env["A2A_LONG"] === "1";

/** Fixed, so that a failure is the same on every machine; the long version, or `A2A_SEED`, picks another. */
const seed = Number(process.env["A2A_SEED"] ?? (isLong ? Date.now() % 2 ** 31 : 20_261_123));

/** How many times as many runs as a short version makes. */
const longer = 20;

/** Says what a run was of, in a line that can be a line of the corpus. */
type Format<Value> = (value: Value) => string;

/**
 * Tries a property with so many values (`A2A_RUNS` overrides it, `A2A_LONG=1` makes it twenty times as many), and prints seed, runs
 * and how many of them there were in a second.
 *
 * @throws Error that names the smallest value for which it fails, as one line, and how to repeat it
 */
export async function fuzz<Value>(
  title: string,
  numRuns: number,
  values: fc.Arbitrary<Value>,
  format: Format<Value>,
  property: (value: Value) => Promise<void> | void,
): Promise<void> {
  const asked = Number(process.env["A2A_RUNS"] ?? (isLong ? longer * numRuns : numRuns));
  const path = process.env["A2A_PATH"];
  const began = performance.now();
  let done = 0;
  const counted = fc.asyncProperty(values, async (value) => {
    done += 1;
    await property(value);
  });
  const details = await fc.check(counted, {
    seed,
    numRuns: asked,
    ...(path === undefined ? {} : { path }),
  });
  const seconds = (performance.now() - began) / 1_000;
  process.stdout.write(
    `fuzz: ${title}: seed ${seed}, ${done} runs, ${Math.round(done / seconds)} in a second\n`,
  );
  if (!details.failed) return;
  const { counterexample, counterexamplePath, errorInstance } = details;
  const line = counterexample === null ? "no value" : format(counterexample[0]);
  const problem = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  throw new Error(`${problem}\n${line}\nAgain: A2A_SEED=${seed} A2A_PATH=${counterexamplePath}`, {
    cause: errorInstance,
  });
}
