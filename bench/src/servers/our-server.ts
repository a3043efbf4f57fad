import { join } from "node:path";
import { serve } from "@a2a-connect/node";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { ourAgent } from "../agents/our-agent.ts";
import { answerControl } from "./control.ts";

/** Our server with its durable store, in the directory that the bench gives it. Only the task size limit is raised. */
const directory = process.argv[2];
if (directory === undefined) {
  throw new Error("the directory of the store is missing");
}
const { port } = await serve(ourAgent, {
  store: createSqliteTaskStore({ file: join(directory, "tasks.sqlite") }),
  limits: { maxTaskBytes: 2 ** 30 },
});
answerControl({ httpPort: port, grpcPort: port, jsonRpcPath: "/rpc", httpJsonPath: "/rest" });
