import { defineConfig } from "vitest/config";
import { SkipsReporter } from "./test/skips/skips-reporter.ts";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "examples/*/src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: "test/surroundings/prepare.ts",
    reporters: ["default", new SkipsReporter()],
    // A worker of its own for each file would load the same sources hundreds of times: half of what a run cost.
    isolate: false,
    maxWorkers: 2,
    // Against tests that hang. Machines of CI are slow now and then, so these are no measure of anything.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
