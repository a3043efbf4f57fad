export {
  type AgentDefinition,
  type CardDefinition,
  type DurableAgent,
  type DurableExecutor,
  defineAgent,
  type SkillDefinition,
  type TurnAgent,
  type TurnExecutor,
} from "./agent/agent-definition.ts";
export type { DurableTask, Inbox, StepContext, StepOptions } from "./agent/durable-task.ts";
export type { Grant } from "./agent/grant.ts";
export type { Answer, AuthRequest, Question } from "./agent/question.ts";
export type { SkillSwitches } from "./agent/skill-switches.ts";
export type { DurableEvent, TurnEvent } from "./agent/task-event.ts";
export type {
  AppendOptions,
  ArtifactInit,
  Content,
  EndOptions,
  EventTools,
  ProgressReport,
} from "./agent/task-tools.ts";
export type { QuestionOptions, Turn } from "./agent/turn.ts";
export { type AgentServer, createAgentServer } from "./agent-server.ts";
export type { AgentServerOptions } from "./agent-server-options.ts";
export type { AgentCards, ExtendedCardOptions } from "./card/cards.ts";
export type { CardSigning, CardSigningKey } from "./card/signing-keys.ts";
export { AgentMistake } from "./engine/agent-mistake.ts";
export { type Clock, systemClock } from "./engine/clock.ts";
export { JournalError } from "./engine/durable/journal-error.ts";
export type { EngineLimits, LogRecord } from "./engine/engine-context.ts";
export { TurnAbort } from "./engine/execution.ts";
export type { RateLimits } from "./gates/rate-limits.ts";
export type { AuditRecord } from "./operations/audit.ts";
export type { PushOptions } from "./push/push-options.ts";
export { createMemoryTaskStore } from "./store/memory-task-store.ts";
export type { TaskStore } from "./store/task-store.ts";
