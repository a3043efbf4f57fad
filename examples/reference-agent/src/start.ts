import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { parseAuthFlag, type ServedAgent, serve } from "@a2a-connect/node";
import { createMemoryTaskStore, type LogRecord } from "@a2a-connect/server";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import type { Options } from "./options.ts";
import { createReferenceAgent, profileOptions } from "./reference-agent.ts";

/** Serves the reference agent as the command line says. */
export async function startReferenceAgent(
  options: Options,
  log: (record: LogRecord) => void,
): Promise<ServedAgent> {
  const {
    port,
    host,
    open,
    auth,
    cleartext,
    dataDir,
    store,
    profile,
    jsonMedia,
    publicUrl,
    pushAllow,
    sideEffects,
  } = options;
  const agent = createReferenceAgent(profile, (taskId, step) => {
    if (sideEffects !== undefined) {
      appendFileSync(sideEffects, `${taskId} ${step}\n`);
    }
  });
  const audience = publicUrl ?? `http://localhost:${port}`;
  const say = (sentence: string) => process.stdout.write(`${sentence}\n`);
  return serve(agent, {
    ...(auth === undefined ? {} : { auth: await parseAuthFlag(auth, { audience, say }) }),
    ...profileOptions(profile),
    push: profile === "full" && { allow: pushAllow },
    port,
    host,
    open,
    cleartext,
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
