import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  allScenarios,
  isBinding,
  type Requirement,
  requirements,
  type ScenarioOptions,
  scenarios,
} from "@a2a-connect/conformance";
import { describe, expect, it } from "vitest";
import { findCitedIds } from "./cited-ids.ts";
import { allClientScenarios } from "./client/index.ts";
import { pageUrl, renderPage } from "./conformance-page.ts";
import { type CitingGroup, findFaults, type Gap, readCoverage } from "./coverage.ts";
import gaps from "./gaps.json" with { type: "json" };

const groups: Readonly<Record<string, CitingGroup>> = Object.fromEntries([
  ...Object.entries(allScenarios).map(([file, group]) => [`scenarios/${file}`, group]),
  ...Object.entries(allClientScenarios).map(([file, group]) => [`client/${file}`, group]),
]);

const directories = {
  scenarios: new URL("../../packages/conformance/src/scenarios/", import.meta.url),
  client: new URL("client/", import.meta.url),
};

const coverage = readCoverage(requirements, groups, gaps);

describe("the conformance tests", () => {
  it("show every requirement wherever it applies, or say why not", () => {
    const all = Object.values(groups).flatMap(({ scenarios: each }) => each);
    const binding = coverage.filter(({ requirement }) => isBinding(requirement));
    console.info(
      `${requirements.length} requirements (${binding.length} binding), ${all.length} scenarios, ` +
        `${all.flatMap(({ places }) => places).length} runs, ${gaps.length} gaps`,
    );
    expect(binding.length).toBeGreaterThan(50);
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter(({ places }) => places.length === 0)).toStrictEqual([]);
    expect(findFaults(coverage, gaps)).toStrictEqual([]);
  });

  it("run all files that there are", () => {
    const withScenarios = Object.entries(directories).flatMap(([name, directory]) =>
      readdirSync(directory)
        .filter((file) =>
          / (scenarios|clientScenarios)\(\s*"/.test(readFileSync(new URL(file, directory), "utf8")),
        )
        .map((file) => `${name}/${file}`),
    );
    expect(withScenarios.toSorted()).toStrictEqual(
      Object.keys(groups)
        .map((name) => `${name}.ts`)
        .toSorted(),
    );
  });

  it("know every requirement that is cited anywhere", () => {
    const cited = findCitedIds();
    const known = new Set(requirements.map(({ id }) => id));
    console.info(`${cited.size} ids are cited in sources and pages`);
    expect(cited.size).toBeGreaterThan(100);
    expect([...cited].filter(([id]) => !known.has(id))).toStrictEqual([]);
  });
});

describe("the requirements", () => {
  it("have ids of their own, a level, a sentence, a source and a place", () => {
    expect(new Set(requirements.map(({ id }) => id)).size).toBe(requirements.length);
    for (const { id, level, source, sentence, places } of requirements) {
      expect([id, sentence]).toStrictEqual([id, expect.stringMatching(/\w.*\.$/)]);
      expect(["MUST", "SHOULD", "MAY", "AMBIG", "IMPL", "NOTE"]).toContain(level);
      for (const name of source) {
        expect(name).toMatch(/^(\d+(\.\d+)+|[\w -]+)$/);
      }
      expect(places.length).toBeGreaterThan(0);
    }
  });
});

describe("the page of requirements", () => {
  it("is current; `vitest run test/conformance/coverage.test.ts -u` writes it", async () => {
    await expect(renderPage(coverage)).toMatchFileSnapshot(fileURLToPath(pageUrl));
  });
});

describe("the gate", () => {
  const must: Requirement = {
    id: "A-1",
    level: "MUST",
    source: ["1"],
    sentence: "It is.",
    places: ["grpc", "jsonrpc"],
  };
  const gap: Gap = { id: "A-1", reason: "Not yet." };
  const shown = (options: ScenarioOptions) =>
    scenarios("A", ({ verifies }) => verifies.where(options)("A-1", "is", async () => {}));

  for (const [name, options, known, faults] of [
    ["is content with a test on every wire", { places: ["grpc", "jsonrpc"] }, [], []],
    ["is content with a gap", undefined, [gap], []],
    [
      "is content with a gap for what is missing",
      { places: ["grpc"] },
      [{ ...gap, places: ["jsonrpc"] }],
      [],
    ],
    ["finds what nobody tests", undefined, [], ["A-1 (MUST) is neither tested nor a gap on grpc, jsonrpc"]],
    [
      "finds a wire that is missing",
      { places: ["grpc"] },
      [],
      ["A-1 (MUST) is neither tested nor a gap on jsonrpc"],
    ],
    [
      "finds a gap that is closed",
      { places: ["grpc", "jsonrpc"] },
      [gap],
      ["gaps.json: A-1 is tested on grpc, jsonrpc: that is no gap"],
    ],
    [
      "finds a gap for nothing",
      { places: ["grpc", "jsonrpc"] },
      [{ id: "Z-1", reason: "Not yet." }],
      ["gaps.json: there is no requirement Z-1"],
    ],
    [
      "finds a gap without a reason",
      undefined,
      [{ ...gap, reason: " " }],
      ["gaps.json: A-1 gives no reason"],
    ],
    ["finds a gap that is there twice", undefined, [gap, gap], ["gaps.json: A-1 is there twice"]],
  ] satisfies [string, ScenarioOptions | undefined, Gap[], string[]][]) {
    it(name, () => {
      const citing = options === undefined ? {} : { a: shown(options) };
      expect(findFaults(readCoverage([must], citing, known), known)).toStrictEqual(faults);
    });
  }

  it("refuses a scenario that cites an unknown id", () => {
    // In two parts, because the ids in this file are read by the gate as well.
    const unknown = ["A", "99"].join("-");
    expect(() => scenarios("A", ({ verifies }) => verifies(unknown, "is", async () => {}))).toThrow(unknown);
  });
});
