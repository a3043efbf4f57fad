import { parseArgs } from "node:util";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";

/** What the bench was told to do. */
export interface CommandLine {
  readonly help: boolean;
  readonly scenarios: readonly Scenario[];
  readonly quick: boolean;
  /** File for the figures. */
  readonly json: string | undefined;
  readonly writeDocs: boolean;
  /** Directory for CPU profiles. */
  readonly profile: string | undefined;
}

export const help: string = `Compares our server with the npm package @a2a-js/sdk: turn by turn, in one run, with one load.

  node bench/src/main.ts [scenario…] [options]

Scenarios (default: all)
${scenarios.map(({ name, summary }) => `  ${name.padEnd(14)} ${summary}`).join("\n")}

Options
  --quick          short stretches and small numbers: shows that everything works
  --json FILE      write the figures there
  --write-docs     write the tables into docs/performance.md
  --profile DIR    write CPU profiles of our server there (slows it down)
  --help           this text

Node 24 or newer, and two cores, are wanted. A full run takes about 30 minutes.`;

/** @throws Error with a sentence for the caller when an option or a scenario is unknown */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "string" },
      "write-docs": { type: "boolean", default: false },
      profile: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  return {
    help: values.help,
    scenarios: positionals.length === 0 ? scenarios : positionals.map(findScenario),
    quick: values.quick,
    json: values.json,
    writeDocs: values["write-docs"],
    profile: values.profile,
  };
}

function findScenario(name: string): Scenario {
  const scenario = scenarios.find((candidate) => candidate.name === name);
  if (scenario === undefined) {
    throw new Error(`There is no scenario "${name}"; --help lists them.`);
  }
  return scenario;
}
