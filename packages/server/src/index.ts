export {
  type AgentDefinition,
  type CardDefinition,
  defineAgent,
  type LifecycleDefinition,
  type SkillDefinition,
  type TurnExecutor,
} from "./agent/agent-definition.ts";
export type { AppendOptions, ArtifactInit, Content, EndOptions, ProgressReport, Turn } from "./agent/turn.ts";
export type { TurnEvent } from "./agent/turn-event.ts";
export { type AgentServer, createAgentServer } from "./agent-server.ts";
export type { AgentServerOptions } from "./agent-server-options.ts";
export type { ExtendedCardOptions } from "./card/card-source.ts";
export { connectBinding, grpcWebBinding, type Mounts } from "./card/interfaces.ts";
export { type Clock, systemClock } from "./engine/clock.ts";
export type { EngineLimits, LogRecord } from "./engine/engine-context.ts";
export { TurnAbort, type TurnAbortCause } from "./engine/turn-abort.ts";
export type { TenantPredicate } from "./gates/tenant-gate.ts";
export type { PushSender } from "./push/push-sender.ts";
export { type CommitTarget, decideCommit } from "./store/decide-commit.ts";
export { takeEventPage } from "./store/event-page.ts";
export { createMemoryTaskStore } from "./store/memory-task-store.ts";
export type {
  CommitResult,
  EntryKind,
  ListCursor,
  LogEntry,
  LogEvent,
  LogTail,
  Owner,
  Snapshot,
  StoredTask,
  TaskCommit,
  TaskIndex,
  TaskPage,
  TaskQuery,
  TaskRef,
  TaskStore,
  TaskView,
} from "./store/task-store.ts";
