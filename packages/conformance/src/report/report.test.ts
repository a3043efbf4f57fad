import { describe, expect, it } from "vitest";
import type { Place } from "../requirements.ts";
import type { Outcome, Result } from "../run/result.ts";
import { type Scenario, scenarios } from "../scenario.ts";
import { renderBadge } from "./badge.ts";
import { createCauseMemory } from "./causes.ts";
import { renderPage } from "./html.ts";
import { renderJunit } from "./junit.ts";
import { type ConformanceReport, createReport, reportToJson, verdictOf } from "./report.ts";

const hostile = `</pre><script>alert("1")</script><img src=x onerror='alert(2)'>\u0000\u001b[31m]]>`;

function scenarioOf(ids: string, title = "is seen"): Scenario {
  const [scenario] = scenarios("one", ({ anyAgent }) => anyAgent(ids, title, async () => {})).scenarios;
  if (scenario === undefined) throw new Error("there is none");
  return scenario;
}

function resultOf(scenario: Scenario, outcome: Outcome, place: Place = "jsonrpc", sentence = ""): Result {
  return {
    ...{ scenario, group: "A.1 <SendMessage>", place, outcome, sentence, notes: [], durationMs: 12 },
    exchanges:
      outcome === "failed"
        ? [
            {
              call: `POST ${hostile}`,
              request: hostile,
              answer: `HTTP 200\n{"a":"${"<".repeat(50)}"}`,
              command: hostile,
            },
          ]
        : [],
  };
}

function reportOf(results: readonly Result[], card: object = {}): ConformanceReport {
  const addresses = new Map([
    ["jsonrpc", "http://localhost/rpc"],
    ["grpc", "http://localhost"],
  ] as const);
  return createReport(
    {
      server: { url: "http://localhost", card: { ...card }, addresses },
      agent: "any",
      dialect: { spec: "1.0.1", isGiven: false, signs: [{ what: "a", seen: hostile, spec: undefined }] },
    },
    results,
  );
}

const must = scenarioOf("A-1 A-12"); // MUST and SHOULD
const should = scenarioOf("A-12");
const read = scenarioOf("A-5"); // AMBIG
const may = scenarioOf("A-8");

describe("the verdict of a report", () => {
  for (const [name, results, wanted, strictly] of [
    ["all pass", [resultOf(must, "passed")], "passed", "passed"],
    ["a MUST fails", [resultOf(must, "failed"), resultOf(may, "passed")], "failed", "failed"],
    ["a SHOULD fails", [resultOf(must, "passed"), resultOf(should, "failed")], "passed", "failed"],
    ["a reading of ours fails", [resultOf(must, "passed"), resultOf(read, "failed")], "passed", "failed"],
    ["a MAY fails", [resultOf(must, "passed"), resultOf(may, "failed")], "passed", "passed"],
    [
      "something was not run",
      [resultOf(must, "passed"), resultOf(may, "not-run")],
      "incomplete",
      "incomplete",
    ],
    ["nothing applies", [resultOf(must, "not-applicable")], "incomplete", "incomplete"],
    ["there is nothing", [], "incomplete", "incomplete"],
  ] as const) {
    it(`is "${wanted}" when ${name}, and "${strictly}" strictly`, () => {
      const report = reportOf(results);
      expect([verdictOf(report), verdictOf(report, true)]).toEqual([wanted, strictly]);
    });
  }
});

describe("a report", () => {
  it("has a row for each requirement, whose outcome in a place is the worst one that says something", () => {
    const other = scenarioOf("A-1");
    const { rows, tallies } = reportOf([
      resultOf(must, "passed"),
      resultOf(other, "failed"),
      resultOf(must, "not-applicable", "grpc"),
      resultOf(other, "passed", "grpc"),
    ]);
    expect(rows.map(({ requirement, outcomes }) => [requirement.id, Object.fromEntries(outcomes)])).toEqual([
      ["A-1", { jsonrpc: "failed", grpc: "passed" }],
      ["A-12", { jsonrpc: "passed", grpc: "not-applicable" }],
    ]);
    expect(tallies.must).toEqual({ passed: 2, failed: 1, "not-applicable": 1, "not-run": 0 });
  });

  it("shows failures by their weight", () => {
    const { failures } = reportOf([
      resultOf(may, "failed"),
      resultOf(should, "failed"),
      resultOf(must, "failed"),
    ]);
    expect(failures.map(({ weight }) => weight)).toEqual(["must", "should", "may"]);
  });

  it("is JSON with every result", () => {
    const json = JSON.parse(
      JSON.stringify(reportToJson(reportOf([resultOf(must, "failed")], { name: "One" }))),
    );
    expect(json).toMatchObject({
      server: {
        name: "One",
        wires: ["grpc", "jsonrpc"],
        undeclared: ["grpc-web", "connect", "http-json"],
        facts: ["no-streaming", "no-push", "no-extended-card"],
      },
      verdict: "failed",
      spec: { version: "1.0.1", given: false },
      requirements: [{ id: "A-1", level: "MUST", outcomes: { jsonrpc: "failed" } }, { id: "A-12" }],
      results: [{ ids: ["A-1", "A-12"], place: "jsonrpc", weight: "must", outcome: "failed" }],
    });
  });
});

describe("the causes of failures", () => {
  /** A failure of a scenario of its own, after that answer. */
  function failing(title: string, place: Place, sentence: string, answer: string): Result {
    const exchanges = [{ call: "SendMessage", request: "", answer }];
    return { ...resultOf(scenarioOf("A-1", title), "failed", place, sentence), exchanges };
  }
  const down = (at: string) =>
    `HTTP 503\ndate: ${at}\ncontent-type: text/html\n\n<p>down since ${Date.parse(at)}</p>`;
  const [early, late] = [down("2026-01-31T12:00:00.000Z"), down("2026-01-31T12:00:01.000Z")];
  const failures = [
    failing("a", "jsonrpc", "[unavailable] no JSON-RPC response", early),
    failing("b", "http-json", "there is no error of this wire: [unavailable] no error of A2A", late),
    failing("c", "jsonrpc", "[unavailable] no JSON-RPC response", late),
    failing("d", "jsonrpc", "found 503, wanted 400", early),
    failing("e", "jsonrpc", "found 1, wanted 2; about: one", "HTTP 200\n\n{}"),
    failing("f", "grpc", "found 1, wanted 2; about: another", "HTTP 200\n\n{}"),
    failing("g", "jsonrpc", "found 1, wanted 3", "HTTP 200\n\n{}"),
    failing("h", "jsonrpc", "It took longer than 10 s; the last call was POST a.", ""),
    failing("i", "jsonrpc", "It took longer than 10 s; the last call was POST b.", ""),
  ];

  it("are an answer to calls that fail, or what is said in the same way", () => {
    const { causes } = reportOf([...failures, resultOf(must, "passed")]);
    expect(
      causes.map(({ scenarios: each }) =>
        [...each]
          .map(({ title }) => title)
          .toSorted()
          .join(""),
      ),
    ).toEqual(["abcd", "ef", "hi", "g"]);
    expect(causes[0]).toMatchObject({ sentence: "[unavailable] no JSON-RPC response", weight: "must" });
    expect(reportToJson(reportOf(failures))["causes"]).toMatchObject([
      { checks: 4, places: ["jsonrpc", "http-json"], scenarios: [{ ids: ["A-1"], title: "a" }, {}, {}, {}] },
      {},
      {},
      {},
    ]);
  });

  it("are told once while the results come", () => {
    const isNew = createCauseMemory();
    const told = failures.filter(isNew).map(({ scenario }) => scenario.title);
    expect(told).toEqual(["a", "e", "g", "h"]);
  });

  it("are told once on the page when they touch many scenarios, with all of these", () => {
    const page = renderPage(reportOf(failures), { at: new Date(0) });
    expect(page).toContain("4 checks fail in the same way");
    expect(page.match(/no JSON-RPC response/g)).toHaveLength(1);
    for (const sentence of ["no error of A2A", "found 503, wanted 400", "found 1, wanted 3"]) {
      expect(page).toContain(sentence);
    }
    expect(page).toContain('href="#cause-0"');
    expect(page).toContain('href="#fails-A-1"');
  });
});

describe("what a server has sent", () => {
  const results = [
    resultOf(must, "failed", "jsonrpc", hostile),
    resultOf(may, "not-applicable", "grpc", hostile),
  ];
  const report = reportOf(results, { name: hostile, version: hostile });

  it("is text on the page", () => {
    const page = renderPage(report, { at: new Date(0) });
    expect(page.match(/<script/g)).toHaveLength(1); // ours
    expect(page).not.toContain("<img");
    for (const control of ["\u0000", "\u001b"]) expect(page).not.toContain(control);
    expect(page).toContain("&lt;img src=x onerror=&#39;alert(2)&#39;&gt;");
    expect(page).toMatch(
      /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; [^"]*sha256-/,
    );
  });

  it("is text in JUnit's XML, and in a badge", () => {
    const xml = renderJunit(report);
    for (const piece of ["<script", "<img", "\u0000", "\u001b"]) expect(xml).not.toContain(piece);
    expect(xml).toContain(
      '<testsuites name="A2A conformance of http://localhost" tests="2" failures="1" errors="0" skipped="1">',
    );
    expect(renderBadge(report)).toContain("1 check fails");
  });

  it("is bounded on the page, however much fails", () => {
    const long = "<".repeat(4_000);
    const many = Array.from({ length: 1_000 }, (_, index): Result => {
      const one = resultOf(scenarioOf("A-1", `is seen ${index}`), "failed", "jsonrpc", `different ${index}`);
      return { ...one, exchanges: Array(3).fill({ call: "a", request: long, answer: long, command: long }) };
    });
    const page = renderPage(reportOf(many), { at: new Date(0) });
    expect(page.length).toBeLessThan(25_000_000);
    expect(page).toContain("Only the first 150 are shown with requests and answers");
  });
});

describe("a badge", () => {
  for (const [results, wanted] of [
    [[resultOf(must, "passed")], "conforms over 2 wires"],
    [[resultOf(must, "failed"), resultOf(must, "failed", "grpc")], "2 checks fail"],
    [[], "not all was tried"],
  ] as const) {
    it(`says "${wanted}"`, () => expect(renderBadge(reportOf(results))).toContain(`A2A 1.0.1: ${wanted}`));
  }
});
