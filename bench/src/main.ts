import { writeFileSync } from "node:fs";
import { type CommandLine, help, parseCommandLine } from "./command-line.ts";
import { writeDocs } from "./report/docs.ts";
import { formatResult } from "./report/format-result.ts";
import { describeSetup } from "./report/setup.ts";
import type { BenchContext, Scenario, ScenarioResult } from "./scenario.ts";
import { pinLoad } from "./servers/pin.ts";
import { startServer } from "./servers/start-server.ts";

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => process.exit(1)); // the servers end with this process
}
const commandLine = readCommandLine();
if (commandLine?.help === true) {
  console.log(help);
} else if (commandLine !== undefined) {
  await runBench(commandLine);
}

function readCommandLine(): CommandLine | undefined {
  try {
    return parseCommandLine(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
    return undefined;
  }
}

async function runBench({ scenarios, quick, json, writeDocs: toDocs, profile }: CommandLine): Promise<void> {
  const setup = describeSetup(quick);
  pinLoad();
  const context: BenchContext = {
    quick,
    start: (side, options) => startServer(side, { ...options, profileDirectory: profile }),
    progress: (line) => console.error(`  … ${line}`),
  };
  const sections = new Map<string, string>();
  const results: Record<string, ScenarioResult> = {};
  console.log(`${setup}\n`);
  for (const scenario of scenarios) {
    const result = await tryScenario(scenario, context);
    if (result === undefined) {
      continue; // the others may still tell something
    }
    const text = `${scenario.summary}\n\n${formatResult(result)}`;
    console.log(`## ${scenario.name}\n\n${text}\n`);
    sections.set(scenario.name, `${text}\n\n${setup}`);
    results[scenario.name] = result;
    if (json !== undefined) {
      writeFileSync(json, `${JSON.stringify({ setup, results }, null, 2)}\n`);
    }
  }
  if (toDocs) {
    writeDocs(sections);
  }
}

async function tryScenario(scenario: Scenario, context: BenchContext): Promise<ScenarioResult | undefined> {
  try {
    return await scenario.run(context);
  } catch (error) {
    console.error(`${scenario.name} failed:`, error);
    process.exitCode = 1;
    return undefined;
  }
}
