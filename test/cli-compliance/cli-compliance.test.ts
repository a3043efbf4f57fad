import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startControlledAgent } from "../../packages/cli/test-support/controlled-agent.ts";
import { type Check, createLab, type Lab } from "./check.ts";
import { allChecks } from "./checks/index.ts";
import { findFaults, type Outcomes, readFindings, renderReport, reportUrl, summarise } from "./report.ts";
import { gaps, type Requirement, requirements } from "./requirements.ts";

let lab: Lab;
const checks = Object.values(allChecks).flat();
const outcomes = new Map<Check, "passed" | "failed">();

beforeAll(async () => {
  lab = createLab({
    agent: await startControlledAgent(),
    silent: await startControlledAgent({ streaming: false, push: false }),
    directory: await mkdtemp(join(tmpdir(), "a2a-compliance-")),
  });
});

afterAll(async () => {
  await lab.agent[Symbol.asyncDispose]();
  await lab.silent[Symbol.asyncDispose]();
  await rm(lab.directory, { recursive: true });
});

for (const [area, group] of Object.entries(allChecks)) {
  // Most of a check is waiting for a process; three at a time keep two cores busy.
  describe.concurrent(`the a2a command, ${area}`, { timeout: 60_000 }, () => {
    for (const check of group) {
      it(`${check.title} (${check.shows.join(", ")})`, async () => {
        outcomes.set(check, "failed");
        await check.run(lab);
        outcomes.set(check, "passed");
      });
    }
  });
}

describe("the compliance report", () => {
  it("has a check or a note for every requirement", () => {
    const [first, second, third] = [1, 2, 3].map(
      (tier) => requirements.filter((row) => row.tier === tier).length,
    );
    console.info(
      `${requirements.length} requirements (tier 1: ${first}, 2: ${second}, 3: ${third}), ` +
        `${checks.length} checks, ${gaps.length} gaps`,
    );
    expect([first, second, third]).toStrictEqual([39, 15, 12]); // as the specification's own tables have it
    expect(findFaults(requirements, checks, gaps)).toStrictEqual([]);
  });

  it("is current; `vitest run test/cli-compliance -u` writes it", async () => {
    await expect(renderReport(outcomes, checks, gaps)).toMatchFileSnapshot(fileURLToPath(reportUrl));
  });
});

describe("a compliance report", () => {
  const requirement: Requirement = { id: "A2ACLI_OUT_001", tier: 1, spec: "§1", summary: "It is." };
  const check: Check = { shows: [requirement.id], title: "is", run: async () => {} };
  const gap = { id: requirement.id, status: "partial", note: "Not all of it." } as const;
  const judge = (
    results: Outcomes,
    known: readonly Check[] = [check],
    notes: readonly (typeof gap)[] = [],
  ) => {
    const findings = readFindings([requirement], results, known, notes);
    return [findings[0]?.status, summarise(findings, 1).satisfied];
  };

  it("calls a pass only what was shown in this run", () => {
    expect(judge(new Map([[check, "passed"]]))).toStrictEqual(["pass", true]);
    expect(judge(new Map([[check, "failed"]]))).toStrictEqual(["fail", false]);
    expect(judge(new Map())).toStrictEqual(["not_measured", false]);
    expect(judge(new Map(), [])).toStrictEqual(["not_measured", false]);
    expect(judge(new Map([[check, "passed"]]), [check], [gap])).toStrictEqual(["partial", false]);
    expect(judge(new Map([[check, "failed"]]), [check], [gap])).toStrictEqual(["fail", false]);
  });

  it("is satisfied with no tier that is empty", () => {
    expect(summarise([], 1).satisfied).toBe(false);
  });

  it("has no pass of the defaults without each of them", () => {
    const whole: Requirement = { ...requirement, id: "A2ACLI_DEFAULT_001" };
    const some: Check = { ...check, shows: [whole.id, "detail_level_concise: shipped"] };
    expect(readFindings([whole], new Map([[some, "passed"]]), [some], [])[0]?.status).toBe("partial");
  });

  for (const [what, known, notes, faults] of [
    ["is content with a check", [check], [], []],
    ["is content with a note", [], [{ ...gap, status: "fail" }], []],
    ["is content with a part and a note", [check], [gap], []],
    ["finds what has neither", [], [], ["A2ACLI_OUT_001 has neither a check nor a gap"]],
    [
      "finds a gap that is none",
      [check],
      [{ ...gap, status: "fail" }],
      ["gaps.json: A2ACLI_OUT_001 has a check, so it is no gap"],
    ],
    [
      "finds a part that is none",
      [],
      [gap],
      ["gaps.json: A2ACLI_OUT_001 is partial, and no check shows the part that is there"],
    ],
    [
      "finds a gap without a note",
      [check],
      [{ ...gap, note: " " }],
      ["gaps.json: A2ACLI_OUT_001 has no note"],
    ],
    [
      "finds a gap for nothing",
      [check],
      [{ ...gap, id: "X" }],
      [
        "gaps.json: there is no requirement X",
        "gaps.json: X is partial, and no check shows the part that is there",
      ],
    ],
    ["finds a gap that is there twice", [check], [gap, gap], ["gaps.json: A2ACLI_OUT_001 is there twice"]],
  ] as const) {
    it(what, () => {
      expect(findFaults([requirement], known, notes)).toStrictEqual(faults);
    });
  }
});
