import type { JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  formatLifecycleReport,
  lifecycleExtension,
  parseLifecycleRequest,
  readLifecycleReport,
} from "./lifecycle.ts";

const request = (value: JsonValue) => parseLifecycleRequest({ [lifecycleExtension]: value });

describe("parseLifecycleRequest", () => {
  it("reads what was asked for", () => {
    const wanted = { skill: "translate", priority: "high", deadline: "2026-01-31T12:00:00Z" };
    expect(request({ ...wanted, unknown: 1 })).toEqual({ request: wanted });
  });

  for (const [what, metadata] of [
    ["no metadata", undefined],
    ["metadata of others", { other: 1 }],
    ["nothing in it", { [lifecycleExtension]: {} }],
  ] as const) {
    it(`takes ${what} as nothing asked for`, () => {
      expect(parseLifecycleRequest(metadata as Parameters<typeof parseLifecycleRequest>[0])).toEqual({
        request: {},
      }); // a readonly literal
    });
  }

  for (const deadline of [
    "2026-01-31T12:00:00Z",
    "2026-01-31T12:00:00.123456789Z",
    "2026-01-31T12:00:00+02:00",
    "2026-01-31t12:00:00z",
  ]) {
    it(`takes the deadline ${deadline}`, () =>
      expect(request({ deadline })).toEqual({ request: { deadline } }));
  }

  for (const priority of ["low", "normal", "high"]) {
    it(`takes the priority ${priority}`, () =>
      expect(request({ priority })).toEqual({ request: { priority } }));
  }

  const malformed: readonly (readonly [string, JsonValue])[] = [
    ["skill", ""],
    ["skill", 1],
    ["skill", null],
    ["priority", "urgent"],
    ["priority", 1],
    ["priority", "High"],
    ["deadline", "soon"],
    ["deadline", "1"],
    ["deadline", 1_769_860_800_000],
    ["deadline", "2026-01-31"],
    ["deadline", "2026-01-31T12:00:00"],
    ["deadline", "2026-02-31T25:00:00Z"],
    ["deadline", ""],
    ["deadline", null],
  ];
  for (const [member, value] of malformed) {
    it(`names ${member} when it is ${JSON.stringify(value)}`, () => {
      expect(request({ [member]: value })).toEqual({ member, problem: expect.stringMatching(/^must be /) });
    });
  }
});

describe("a lifecycle request that is no object", () => {
  for (const value of ["urgent", 5, [1], null, true]) {
    it(`is refused as a whole: ${JSON.stringify(value)}`, () =>
      expect(parseLifecycleRequest({ [lifecycleExtension]: value })).toEqual({
        member: "",
        problem: "must be an object",
      }));
  }
});

describe("lifecycle reports", () => {
  it("are read as they were written", () => {
    const report = {
      progress: 0.5,
      estimatedCompletion: "2026-01-31T12:00:00Z",
      reason: "mine",
      usage: { cost: 1, currency: "EUR" },
    };
    expect(readLifecycleReport(formatLifecycleReport(report))).toEqual(report);
  });

  it("are nothing when nothing is reported", () => {
    expect(formatLifecycleReport({})).toBeUndefined();
    expect(readLifecycleReport(undefined)).toEqual({});
    expect(readLifecycleReport({ [lifecycleExtension]: 1 })).toEqual({});
  });

  it("keep a progress of 0", () => {
    expect(formatLifecycleReport({ progress: 0 })).toEqual({ [lifecycleExtension]: { progress: 0 } });
  });
});
