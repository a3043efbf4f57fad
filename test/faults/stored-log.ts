import { anonymousPrincipal } from "@a2a-connect/core";
import { type StreamResponse, StreamResponseSchema } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { Owner } from "@a2a-connect/server/store";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { fromBinary } from "@bufbuild/protobuf";

const owner: Owner = { tenant: "", principal: anonymousPrincipal.id };

/** The events of tasks as they lie in a file that no server has open. A task that is not there has none. */
export async function readLogs(
  file: string,
  taskIds: Iterable<string>,
): Promise<ReadonlyMap<string, readonly StreamResponse[]>> {
  const store = createSqliteTaskStore({ file });
  try {
    const logs = new Map<string, readonly StreamResponse[]>();
    for (const id of taskIds) logs.set(id, await readLog(store, id));
    return logs;
  } finally {
    await store.close();
  }
}

async function readLog(store: TaskStore, taskId: string): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for (;;) {
    const page = await store.events(owner, taskId, events.length, 1_000);
    if (page.length === 0) return events;
    for (const { generation, payload } of page) {
      events.push(fromBinary(StreamResponseSchema, payload));
      // Gapless: the n-th event has generation n.
      if (generation !== events.length)
        throw new Error(`${taskId}: generation ${generation} at ${events.length}`);
    }
  }
}
