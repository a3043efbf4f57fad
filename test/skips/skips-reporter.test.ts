import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeSkips, judgeSkips } from "./skips-reporter.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const accepted = [{ reason: "no moon", why: "It is day." }];

describe("the line at the end of a run", () => {
  it("counts what was skipped, by reason", () => {
    expect(describeSkips(new Map())).toBe("Nothing was skipped.");
    const skips = new Map([
      ["no moon", 34],
      ["no sun", 1],
    ]);
    expect(describeSkips(skips)).toBe("Skipped 35 (34: no moon; 1: no sun).");
  });
});

describe("CI", () => {
  it("accepts reasons that are on the list", () => {
    expect(judgeSkips(new Map([["no moon", 2]]), accepted, new Set(["no moon"]))).toEqual([]);
    expect(judgeSkips(new Map(), accepted, new Set(["no moon"]))).toEqual([]);
  });

  it("refuses others", () => {
    expect(judgeSkips(new Map([["no sun", 1]]), accepted, undefined)).toEqual([
      "Tests were skipped, and test/skips/accepted.json does not have the reason: no sun",
    ]);
  });

  it("refuses a reason on the list that no test gives, if all tests were there to ask", () => {
    expect(judgeSkips(new Map(), accepted, undefined)).toEqual([]);
    expect(judgeSkips(new Map(), accepted, new Set(["no sun"]))).toEqual([
      "test/skips/accepted.json has a reason that no test gives: no moon",
    ]);
  });
});

describe("a run of tests", () => {
  const tests = `import { describe, it } from "vitest";
    it("a", { skip: true, meta: { skipReason: "no sun" } }, () => {});
    it("b", ({ skip }) => skip("no moon"));
    describe("c", { skip: true, meta: { skipReason: "no sun" } }, () => it("d", () => {}));
    it("e", () => {});
    it.skip("f", () => {});`;

  it.each([
    ["true", 1],
    ["", 0],
  ])("tells what was skipped, and fails for it where CI is %j", async (isCi, code) => {
    const folder = mkdtempSync(join(import.meta.dirname, ".tmp-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "some.test.ts"), tests);
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const outcome = await promisify(execFile)(process.execPath, [vitest, "run", folder], {
      cwd: root,
      env: { ...process.env, CI: isCi, NO_COLOR: "1" },
    }).catch((error: { code: number; stdout: string; stderr: string }) => error);
    expect(outcome.stdout).toContain("Skipped 4 (2: no sun; 1: no moon; 1: no reason given).");
    expect("code" in outcome ? outcome.code : 0).toBe(code);
    const objections = outcome.stderr.match(/does not have the reason: .*/g) ?? [];
    expect(objections).toHaveLength(code === 0 ? 0 : 3);
  });
});
