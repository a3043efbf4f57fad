import { join } from "node:path";
import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { ourAgent } from "../agents/our-agent.ts";
import { answerControl } from "./control.ts";
import { databaseFile } from "./server-directory.ts";
import type { ServerSettings } from "./server-settings.ts";

/**
 * Our server with its durable store, in the directory that the bench gives it. Only the task size limit is raised, and
 * what a scenario says is different.
 */
const [, , directory, settings = "{}"] = process.argv;
if (directory === undefined) {
  throw new Error("the directory of the store is missing");
}
const { store, ...limits } = JSON.parse(settings) as ServerSettings; // start-server wrote it
const { port } = await serve(ourAgent, {
  store:
    store === "memory"
      ? createMemoryTaskStore()
      : createSqliteTaskStore({ file: join(directory, databaseFile) }),
  limits: { maxTaskBytes: 2 ** 30, ...limits },
});
answerControl({ httpPort: port, grpcPort: port, jsonRpcPath: "/rpc", httpJsonPath: "/rest" });
