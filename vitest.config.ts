import { defineConfig } from "vitest/config";
import { SkipsReporter } from "./test/skips/skips-reporter.ts";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "examples/*/src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: "test/surroundings/prepare.ts",
    reporters: ["default", new SkipsReporter()],
    maxWorkers: 2,
    testTimeout: 20_000,
  },
});
