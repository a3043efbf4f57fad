import { readFileSync } from "node:fs";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

declare module "vitest" {
  interface TaskMeta {
    /** Why this test is skipped where it is: what the machine lacks. Set whether it is skipped here or not. */
    skipReason?: string;
  }
}

/** A reason that CI accepts. */
interface AcceptedSkip {
  /** As the tests say it. */
  readonly reason: string;
  /** Why it is no loss. */
  readonly why: string;
}

/**
 * Says at the end of a run, in one line, what was skipped and why. In CI a run fails that skips a test for a reason that
 * `accepted.json` does not have; so does a run of all tests when no test gives a reason that it has.
 */
export class SkipsReporter implements Reporter {
  readonly #isCi = process.env["CI"] === "true"; // what the tests find around them is prepared later
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    if (this.#vitest === undefined || this.#vitest.config.testNamePattern !== undefined) return; // skips by name
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const skips = countReasons(tests.filter((test) => test.result().state === "skipped"));
    this.#vitest.logger.log(describeSkips(skips));
    if (!this.#isCi) return;
    const isWhole = modules.length === (await this.#vitest.globTestSpecifications()).length;
    const known = isWhole ? new Set(tests.map(reasonOf)) : undefined;
    const problems = judgeSkips(skips, readAccepted(), known);
    for (const problem of problems) this.#vitest.logger.error(problem);
    if (problems.length > 0) process.exitCode = 1;
  }
}

/** How many tests were skipped for each reason. */
type Skips = ReadonlyMap<string, number>;

const noReason = "no reason given";

function reasonOf(test: TestCase): string {
  const result = test.result();
  return test.meta().skipReason ?? (result.state === "skipped" ? result.note : undefined) ?? noReason;
}

function countReasons(tests: readonly TestCase[]): Skips {
  const skips = new Map<string, number>();
  for (const test of tests) skips.set(reasonOf(test), (skips.get(reasonOf(test)) ?? 0) + 1);
  return skips;
}

/** One line for people. */
export function describeSkips(skips: Skips): string {
  const total = [...skips.values()].reduce((sum, count) => sum + count, 0);
  const reasons = [...skips].map(([reason, count]) => `${count}: ${reason}`);
  return total === 0 ? "Nothing was skipped." : `Skipped ${total} (${reasons.join("; ")}).`;
}

/**
 * What CI objects to.
 *
 * @param known the reasons that any test has, skipped or not; undefined when not all tests were there to ask
 */
export function judgeSkips(
  skips: Skips,
  accepted: readonly AcceptedSkip[],
  known: ReadonlySet<string> | undefined,
): readonly string[] {
  const unexpected = [...skips.keys()].filter((reason) => !accepted.some((row) => row.reason === reason));
  const stale = known === undefined ? [] : accepted.filter(({ reason }) => !known.has(reason));
  return [
    ...unexpected.map(
      (reason) => `Tests were skipped, and test/skips/accepted.json does not have the reason: ${reason}`,
    ),
    ...stale.map(({ reason }) => `test/skips/accepted.json has a reason that no test gives: ${reason}`),
  ];
}

function readAccepted(): readonly AcceptedSkip[] {
  return JSON.parse(readFileSync(new URL("accepted.json", import.meta.url), "utf8")) as AcceptedSkip[]; // our own file
}
