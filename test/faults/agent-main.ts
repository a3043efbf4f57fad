// The fault agent in a process of its own: node agent-main.ts DIRECTORY [FAILPOINT as JSON]. It is told what to do, and
// tells, over the channel that its parent has opened; it ends with that.

import { join } from "node:path";
import { serve } from "@a2a-connect/node";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { openEffects } from "./effects.ts";
import { createFailpointStore, type Failpoint, type WriteCounts } from "./failpoint-store.ts";
import { createFaultAgent } from "./fault-agent.ts";
import { watchDatabases } from "./write-protection.ts";

/** What the parent says: each is answered. */
export type Order = { readonly arm: Failpoint | null } | { readonly writable: boolean } | "count";

/** What it is told. */
export type Report = { readonly url: string } | { readonly counts: WriteCounts } | "done";

const [dataDir = "", failpoint] = process.argv.slice(2);

/** The kernel takes the process away before the call returns. */
function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("a process has outlived its own SIGKILL");
}

const protection = watchDatabases();
const store = createFailpointStore(createSqliteTaskStore({ file: join(dataDir, "tasks.sqlite") }), die);
store.arm(failpoint === undefined ? undefined : (JSON.parse(failpoint) as Failpoint)); // written by our parent

const served = await serve(createFaultAgent(openEffects(dataDir)), {
  store,
  protocolVersions: ["1.0", "1.1"],
  push: { allow: ["127.0.0.1"] },
  // How many commits there are does not depend on how quickly they follow one another.
  limits: { chunkIntervalMs: 0, maxShare: 1 }, // the one caller may fill the disk
});

function report(words: Report): void {
  process.send?.(words);
}

process.on("message", (order: Order) => {
  if (order === "count") report({ counts: store.counts });
  else {
    if ("arm" in order) store.arm(order.arm ?? undefined);
    else protection.set(!order.writable);
    report("done");
  }
});
process.on("disconnect", () => process.exit());
report({ url: served.url });
