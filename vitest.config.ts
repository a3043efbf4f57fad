import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { SkipsReporter } from "./test/skips/skips-reporter.ts";

/** Files that take half a minute and more, because they start many processes. Begun last, they would run alone at the end. */
const long =
  /test\/(cli-docs|cli-compliance|consolidation|durable|faults)\/|\/(lost-output|new|serve)\.test\.ts$/;

/**
 * Whether a file collects garbage now and then, to see what is left. That takes in proportion to all that a worker has loaded by then: a few
 * hundredths of a second at first, and a fifth of a second at the end.
 */
const collectsGarbage = ({ moduleId }: TestSpecification): boolean =>
  /expose-gc|collect-garbage/.test(readFileSync(moduleId, "utf8"));

class CostlyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = (file: TestSpecification): number =>
      long.test(file.moduleId) ? 0 : collectsGarbage(file) ? 1 : 2;
    const ranks = new Map(sorted.map((file) => [file, rank(file)]));
    return sorted.toSorted((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0));
  }
}

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "examples/*/src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: "test/surroundings/prepare.ts",
    reporters: ["default", new SkipsReporter()],
    // A worker of its own for each file would load the same sources hundreds of times: half of what a run cost.
    isolate: false,
    // Servers log to stderr what their agents throw on purpose.
    silent: "passed-only",
    restoreMocks: true,
    unstubGlobals: true,
    // One more than the cores that are asked for: a worker often waits for a process, a socket or a timer.
    maxWorkers: 3,
    sequence: { sequencer: CostlyFirst },
    // Against tests that hang. Machines of CI are slow now and then, so these are no measure of anything.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
