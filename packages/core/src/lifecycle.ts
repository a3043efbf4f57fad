import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "./json/json-value.ts";

/** Our one extension: requests and reports about a task that the protocol has no fields for. */
export const lifecycleExtension = "urn:a2a-connect:ext:lifecycle:v1";

/** What a caller may ask for in `message.metadata[lifecycleExtension]` (docs/extensions/lifecycle.md). */
export interface LifecycleRequest {
  /** Id of the skill that shall do the task. */
  readonly skill?: string;
  /** Which of the caller's waiting tasks starts first. Default `normal`. */
  readonly priority?: Priority;
  /** When the task is canceled if it has not ended: RFC 3339, any zone. */
  readonly deadline?: string;
}

/** Which of one caller's waiting tasks starts first: `high` before `normal` before `low`, and by age among equals. */
export type Priority = "low" | "normal" | "high";

/** Tokens and money that a task has cost so far. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Amount in `currency`. */
  readonly cost?: number;
  /** ISO 4217, for example `EUR`. */
  readonly currency?: string;
}

/** Why a task ended as FAILED, CANCELED or REJECTED. Programs may branch on it; the status message is for people. */
export type EndReason =
  | "agent-failed"
  | "agent-rejected"
  | "answer-invalid"
  | "auth-timeout"
  | "canceled"
  | "capacity"
  | "deadline"
  | "inactive"
  | "input-timeout"
  | "internal"
  | "interrupted"
  | "invalid-agent-response"
  | "journal-diverged"
  | "skill-removed"
  | "skill-unavailable"
  | "task-too-large"
  | "unloadable"
  | "unsupported-skill";

/** What an agent tells in the metadata of a status message under `lifecycleExtension`. */
export interface LifecycleReport {
  /** From 0 to 1. */
  readonly progress?: number;
  /** When the agent expects to be done: RFC 3339, UTC. */
  readonly estimatedCompletion?: string;
  /** Set on FAILED, CANCELED and REJECTED; an agent may use words of its own besides `EndReason`. */
  readonly reason?: EndReason | (string & {});
  /** When it is worth sending the work again, in whole seconds from now; set with the reason `capacity`. */
  readonly retryAfterSeconds?: number;
  readonly usage?: Usage;
  /** How long a question waits for its answer, when that differs from what the card says. */
  readonly waitSeconds?: number | "unlimited";
}

/** `report` as the value of a message's metadata, without unset members; undefined when none is set. */
export function formatLifecycleReport(report: LifecycleReport): JsonObject | undefined {
  const set = Object.entries(report).filter(([, value]) => value !== undefined);
  return set.length === 0 ? undefined : { [lifecycleExtension]: Object.fromEntries(set) as JsonObject }; // plain JSON by its type
}

/** The report in a message's metadata; empty when it has none. The report is not checked: agents write it. */
export function readLifecycleReport(metadata: JsonObject | undefined): LifecycleReport {
  return readExtension(metadata);
}

/**
 * What the caller asked for, or the first problem in it.
 *
 * @returns `problem` says what `member` should have been; the empty member is the whole value
 */
export function parseLifecycleRequest(
  metadata: JsonObject | undefined,
): { request: LifecycleRequest } | { member: string; problem: string } {
  if (metadata?.[lifecycleExtension] !== undefined && !isObject(metadata[lifecycleExtension])) {
    return { member: "", problem: "must be an object" };
  }
  const { skill, priority, deadline } = readExtension(metadata);
  if (skill !== undefined && (typeof skill !== "string" || skill === "")) {
    return { member: "skill", problem: "must be the id of a skill" };
  }
  if (priority !== undefined && !isPriority(priority)) {
    return { member: "priority", problem: `must be one of ${priorities.join(", ")}` };
  }
  if (deadline !== undefined && !isTime(deadline)) {
    return { member: "deadline", problem: "must be an RFC 3339 time, such as 2026-01-31T12:00:00Z" };
  }
  return {
    request: {
      ...(skill === undefined ? {} : { skill }),
      ...(priority === undefined ? {} : { priority }),
      ...(deadline === undefined ? {} : { deadline }),
    },
  };
}

const priorities: readonly Priority[] = ["low", "normal", "high"];

function isPriority(value: JsonValue): value is Priority {
  return priorities.some((priority) => priority === value);
}

/** `Date.parse` alone accepts many other texts, and each would become a deadline that has passed. */
function isTime(value: JsonValue): value is string {
  return typeof value === "string" && rfc3339.test(value) && !Number.isNaN(Date.parse(value));
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

function readExtension(metadata: JsonObject | undefined): JsonObject {
  const value = metadata?.[lifecycleExtension];
  return isObject(value) ? value : {};
}
