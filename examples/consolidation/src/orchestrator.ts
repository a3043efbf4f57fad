// node examples/consolidation/src/orchestrator.ts URL [--ask] [--data DIR] [--state FILE]

import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { AgentError, connectAgent, InputRequiredError } from "@a2a-connect/node/client";
import { askPerson } from "./orchestrator/ask-person.ts";
import { consolidate, resume, workerConnection } from "./orchestrator/consolidate.ts";
import { createHandoverFile } from "./orchestrator/handover-file.ts";
import { preferNewer } from "./orchestrator/prefer-newer.ts";
import { printMemories } from "./orchestrator/print-memories.ts";
import { readTranscriptFiles } from "./orchestrator/transcript-files.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Ask the person at the terminal about contradictions, instead of deciding by a rule. */
    ask: { type: "boolean", default: false },
    /** Directory of the transcripts. */
    data: { type: "string", default: fileURLToPath(new URL("../data/transcripts", import.meta.url)) },
    /** What another process needs to go on where this one was stopped. */
    state: { type: "string", default: ".a2a/handover.json" },
  },
});

const tell = (line: string) => process.stdout.write(`${line}\n`);

try {
  await using agent = await connectAgent(positionals[0] ?? "http://localhost:4100", workerConnection);
  tell(`agent   ${agent.card.name} ${agent.card.version} over ${agent.interface.protocolBinding}`);
  const file = createHandoverFile(values.state);
  const { key, taskId } = await file.open();
  using terminal = values.ask ? createInterface(process.stdin, process.stdout) : undefined;
  const conduct = {
    resolve:
      terminal === undefined ? preferNewer : askPerson(terminal, (words) => void process.stdout.write(words)),
    tell,
    async onTask(id: string) {
      tell(`task    ${id}`);
      await file.write({ key, taskId: id });
    },
  };
  const task =
    taskId === undefined
      ? await consolidate(agent, await readTranscriptFiles(values.data), key, conduct)
      : await resume(agent, taskId, conduct);
  tell(`\n${printMemories(task)}`);
  await file.close();
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}

function explain(error: unknown): string {
  if (error instanceof InputRequiredError) {
    return `Task ${error.taskId} waits for an answer. Start this again to give it.`;
  }
  const hint = error instanceof AgentError && error.hint !== undefined ? `\n${error.hint}` : "";
  return `${error instanceof Error ? error.message : String(error)}${hint}`;
}
