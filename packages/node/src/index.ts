import "./supported-node.ts";

export {
  type AgentDefinition,
  createAgentServer,
  createMemoryTaskStore,
  defineAgent,
} from "@a2a-connect/server";
export { toFetchHandler } from "@a2a-connect/server/mount";
export { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
export { parseAuthFlag } from "./auth-flag.ts";
export { connectAgent } from "./connect-when-called.ts";
export type { AddressGuardOptions } from "./network/address-guard.ts";
export { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from "./network/guarded-fetch.ts";
export { type NodeHandler, type NodeHandlerOptions, toNodeHandler } from "./node-handler.ts";
export { type Listener, listen } from "./port/listen.ts";
export type { CloseOptions, ListenOptions } from "./port/listen-options.ts";
export {
  type AgentBesideOthers,
  type ServedAgent,
  type ServedAgents,
  serve,
} from "./serve.ts";
export type { AgentToServe, ServeAgentsOptions, ServeOptions } from "./serve-options.ts";
export type { GuardedPushOptions } from "./serving.ts";
export { type Closable, type ShutdownHook, type ShutdownOptions, shutdownOnSignal } from "./shutdown.ts";
