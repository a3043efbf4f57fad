import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { createMemoryTaskStore, type LogRecord } from "@a2a-connect/server";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import type { Options } from "./options.ts";
import { createReferenceAgent, profileOptions } from "./reference-agent.ts";

/** Serves the reference agent as the command line says. */
export function startReferenceAgent(
  options: Options,
  log: (record: LogRecord) => void,
): Promise<ServedAgent> {
  const { port, host, open, dataDir, store, profile, jsonMedia, publicUrl, pushAllow, sideEffects } = options;
  const agent = createReferenceAgent(profile, (taskId, step) => {
    if (sideEffects !== undefined) {
      appendFileSync(sideEffects, `${taskId} ${step}\n`);
    }
  });
  return serve(agent, {
    ...profileOptions(profile),
    push: profile === "full" && { allow: pushAllow },
    port,
    host,
    open,
    store:
      store === "memory"
        ? createMemoryTaskStore()
        : createSqliteTaskStore({ file: join(dataDir, "tasks.sqlite") }),
    wires: { jsonMedia },
    log,
    shutdown: { graceMs: 2_000 },
    ...(publicUrl === undefined ? {} : { publicUrl }),
  });
}
