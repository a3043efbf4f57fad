import { formatExchanges } from "../exchange.ts";
import type { Outcome, Result } from "../run/result.ts";
import { weightOfScenario } from "../run/result.ts";
import { type Markup, markup } from "./markup.ts";
import type { ConformanceReport } from "./report.ts";

/** A report as JUnit XML, as CI systems read it: a suite for each group of scenarios. What was not run is an error. */
export function renderJunit({ server, results }: ConformanceReport): string {
  const suites = Map.groupBy(results, ({ group }) => group);
  const { text } = markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="A2A conformance of ${server.url}" ${counts(results)}>
${[...suites].map(([group, each]) => suite(group, each))}</testsuites>
`;
  return text;
}

function suite(group: string, results: readonly Result[]): Markup {
  return markup`  <testsuite name="${group}" ${counts(results)}>
${results.map((result) => testCase(group, result))}  </testsuite>
`;
}

function counts(results: readonly Result[]): Markup {
  const count = (wanted: Outcome) => results.filter(({ outcome }) => outcome === wanted).length;
  return markup`tests="${results.length}" failures="${count("failed")}" errors="${count("not-run")}" skipped="${count("not-applicable")}"`;
}

function testCase(group: string, result: Result): Markup {
  const { scenario, place, durationMs, outcome, sentence, exchanges } = result;
  const name = `${scenario.ids.join(" ")}: ${scenario.title} (${place})`;
  const content: Readonly<Record<Outcome, Markup | undefined>> = {
    passed: undefined,
    failed: markup`<failure type="${weightOfScenario(scenario)}" message="${sentence}">${formatExchanges(exchanges)}</failure>`,
    "not-applicable": markup`<skipped message="${sentence}"/>`,
    "not-run": markup`<error message="${sentence}"/>`,
  };
  const time = (durationMs / 1000).toFixed(3);
  return markup`    <testcase classname="${group}" name="${name}" time="${time}">${content[outcome]}</testcase>
`;
}
