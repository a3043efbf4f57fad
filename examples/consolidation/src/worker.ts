// node examples/consolidation/src/worker.ts [--port N] [--db FILE] [--memories FILE] [--pace MS] [--side-effects FILE]

import { parseArgs } from "node:util";
import { serve } from "@a2a-connect/node";
import { openMemoryStore } from "./worker/memory-store.ts";
import { ruleExtractor } from "./worker/rules/rule-extractor.ts";
import { recordSideEffects } from "./worker/side-effects.ts";
import { createWorkerAgent, type WorkerParts } from "./worker/worker-agent.ts";

const { values } = parseArgs({
  options: {
    /** Port to listen on; 0 takes any that is free. */
    port: { type: "string", default: "4100" },
    /** SQLite file of the tasks. */
    db: { type: "string", default: ".a2a/consolidation.sqlite" },
    /** SQLite file of the memory set. */
    memories: { type: "string", default: ".a2a/memories.sqlite" },
    /** Milliseconds of rest after each transcript. */
    pace: { type: "string", default: "0" },
    /** File that gets a line for each extraction and each saving. */
    "side-effects": { type: "string" },
  },
});

const parts: WorkerParts = {
  extractor: ruleExtractor,
  memories: openMemoryStore(values.memories),
  paceMs: Number(values.pace),
};
const effects = values["side-effects"];
const agent = createWorkerAgent(effects === undefined ? parts : recordSideEffects(parts, effects));
const served = await serve(agent, {
  port: Number(values.port),
  file: values.db,
  shutdown: { graceMs: 2_000 },
});
process.stdout.write(`ready ${served.url}\n`);
