import "./supported-node.ts";

export {
  type AgentDefinition,
  createAgentServer,
  createMemoryTaskStore,
  defineAgent,
} from "@a2a-connect/server";
export { toFetchHandler } from "@a2a-connect/server/mount";
export { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
export type { AddressGuardOptions } from "./address-guard.ts";
export { parseAuthFlag } from "./auth-flag.ts";
export { connectAgent } from "./connect-agent.ts";
export { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from "./guarded-fetch.ts";
export { type Listener, listen } from "./listen.ts";
export type { CloseOptions, ListenOptions } from "./listen-options.ts";
export { type NodeHandler, type NodeHandlerOptions, toNodeHandler } from "./node-handler.ts";
export {
  type AgentBesideOthers,
  type ServedAgent,
  type ServedAgents,
  serve,
} from "./serve.ts";
export type { AgentToServe, ServeAgentsOptions, ServeOptions } from "./serve-options.ts";
export type { GuardedPushOptions } from "./serving.ts";
export { type Closable, type ShutdownHook, type ShutdownOptions, shutdownOnSignal } from "./shutdown.ts";
