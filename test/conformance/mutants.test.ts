import { type Result, runConformance } from "@a2a-connect/conformance";
import { describe, expect, it } from "vitest";
import { binaryMutants } from "./mutants/binary-mutants.ts";
import { callMutants } from "./mutants/call-mutants.ts";
import { cardMutants } from "./mutants/card-mutants.ts";
import { httpJsonMutants } from "./mutants/http-json-mutants.ts";
import { jsonMutants, jsonRpcMutants } from "./mutants/json-mutants.ts";
import { type Fault, isBehindProxy, type Mutant } from "./mutants/mutant.ts";
import { pushMutants } from "./mutants/push-mutants.ts";
import { startMutant } from "./mutants/start-mutant.ts";

const mutants: readonly Mutant[] = [
  ...callMutants,
  ...pushMutants,
  ...jsonMutants,
  ...jsonRpcMutants,
  ...httpJsonMutants,
  ...binaryMutants,
  ...cardMutants,
];

/** How many scenarios one fault may fail, of those that cite its requirements. */
const mostFailures = 3;

/** Examines a server like the mutant's, with that fault, by what cites these requirements. */
async function examine(mutant: Mutant, fault: Fault, ids: readonly string[]): Promise<Result[]> {
  await using server = await startMutant(mutant, fault);
  const { place, agent, scenarioTimeoutMs } = mutant;
  using run = await runConformance(server.url, {
    places: [place],
    only: ids,
    runTimeoutMs: 600_000,
    ...(agent === undefined ? {} : { agent }),
    ...(scenarioTimeoutMs === undefined ? {} : { scenarioTimeoutMs }),
  });
  return await Array.fromAsync(run.results());
}

/** What is said of the scenarios that have failed, each in one line. */
function failuresIn(results: readonly Result[]): string[] {
  return results
    .filter(({ outcome }) => outcome === "failed")
    .map(({ scenario, sentence }) => `${scenario.title}: ${sentence}`.replaceAll(/\s+/g, " "));
}

it("tries many faults over every wire, and each once", () => {
  const perPlace = Map.groupBy(mutants, ({ place }) => place);
  console.info(
    `${mutants.length} mutants: ${[...perPlace].map(([place, { length }]) => `${length} ${place}`).join(", ")}`,
  );
  expect(mutants.length).toBeGreaterThan(150);
  expect(perPlace.size).toBe(6);
  expect(new Set(mutants.map(({ name, place }) => `${name} ${place}`)).size).toBe(mutants.length);
});

// Nearly all of the time is spent waiting for servers.
describe.concurrent("a server that", () => {
  for (const mutant of mutants) {
    const { name, ids, place, says, most = mostFailures } = mutant;
    it(`${name} is caught by ${ids} (${place})`, async () => {
      const results = await examine(mutant, mutant, ids.split(" "));
      const failures = failuresIn(results);
      const all = failures.length > 0 ? failures : results.map(toLine);
      expect(
        failures.some((failure) => says.test(failure)),
        all.join("\n"),
      ).toBe(true);
      expect(failures.length, failures.join("\n")).toBeLessThanOrEqual(most);
    });
  }
});

describe.concurrent("a server that does none of this wrong has no failures", () => {
  const alike = Map.groupBy(
    mutants.filter(({ isInSetup }) => isInSetup !== true),
    (mutant) =>
      [
        mutant.server ?? "push",
        mutant.agent ?? "any",
        mutant.place,
        ...(isBehindProxy(mutant) ? ["proxied"] : []),
      ].join(" "),
  );
  for (const [name, group] of alike) {
    it(name, async () => {
      const [mutant] = group;
      if (mutant === undefined) throw new Error("a group has mutants");
      const { scenarioTimeoutMs: _ofOne, ...like } = mutant;
      const ids = new Set(group.flatMap((each) => each.ids.split(" ")));
      const results = await examine(like, {}, [...ids]);
      expect(failuresIn(results)).toEqual([]);
      expect(results.filter(({ outcome }) => outcome === "passed").length).toBeGreaterThan(0);
    });
  }
});

function toLine({ scenario, outcome, sentence }: Result): string {
  return `${outcome}: ${scenario.title}: ${sentence}`;
}
