import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { writeDocs } from "./report/docs.ts";
import { formatResult } from "./report/format-result.ts";
import { describeSetup } from "./report/setup.ts";
import type { BenchContext, ScenarioResult } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";
import { pinLoad } from "./servers/pin.ts";
import { startServer } from "./servers/start-server.ts";

const help = `Compares our server with the npm package @a2a-js/sdk: turn by turn, in one run, with one load.

  node bench/src/main.ts [scenario…] [options]

Scenarios (default: all)
${scenarios.map(({ name, summary }) => `  ${name.padEnd(14)} ${summary}`).join("\n")}

Options
  --quick          short stretches and small numbers: shows that everything works
  --json FILE      write the figures there
  --write-docs     write the tables into docs/performance.md
  --profile DIR    write CPU profiles of our server there (slows it down)
  --help           this text

Node 24 or newer, and two cores, are wanted. A full run takes about 15 minutes.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    "write-docs": { type: "boolean", default: false },
    profile: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(help);
} else {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => process.exit(1)); // the servers end with this process
  }
  await runBench();
}

async function runBench(): Promise<void> {
  const chosen = positionals.map((name) => {
    const scenario = scenarios.find((candidate) => candidate.name === name);
    if (scenario === undefined) {
      throw new Error(`there is no scenario "${name}"; --help lists them`);
    }
    return scenario;
  });
  pinLoad();
  const context: BenchContext = {
    quick: values.quick,
    start: (side) => startServer(side, { profileDirectory: values.profile }),
    progress: (line) => console.error(`  … ${line}`),
  };
  const setup = describeSetup(values.quick);
  console.log(`${setup}\n`);
  const sections = new Map([["setup", setup]]);
  const results: Record<string, ScenarioResult> = {};
  for (const scenario of chosen.length === 0 ? scenarios : chosen) {
    const result = await scenario.run(context).catch((error: unknown) => {
      console.error(`${scenario.name} failed:`, error);
      process.exitCode = 1;
    });
    if (result === undefined) {
      continue; // the others may still tell something
    }
    const text = formatResult(result);
    console.log(`## ${scenario.name}\n\n${scenario.summary}\n\n${text}\n`);
    sections.set(scenario.name, `${scenario.summary}\n\n${text}`);
    results[scenario.name] = result;
    if (values.json !== undefined) {
      writeFileSync(values.json, `${JSON.stringify({ setup, results }, null, 2)}\n`);
    }
  }
  if (values["write-docs"]) {
    writeDocs(sections);
  }
}
