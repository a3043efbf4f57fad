import { findA2AError, formatTaskState, principalKey, type RpcMethod, tenantKey } from "@a2a-connect/core";
import { ownText, protocolVersionKey, RecentMap, runtimeKey } from "@a2a-connect/core/internal";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { readSkill } from "../agent/skill-selection.ts";
import type { Clock } from "../engine/clock.ts";
import type { StateChange } from "../engine/engine-context.ts";
import { taskOf } from "../gates/auth-gate.ts";

/** One line of the audit: a call, or a task's change of state. It has no content and no credentials. */
export interface AuditRecord {
  /** ISO 8601. */
  readonly time: string;
  readonly kind: "call" | "state";
  /** Calls come in; what goes out is in the client's audit. */
  readonly direction: "in";
  readonly principal: string;
  readonly tenant: string;
  /** The task, its context and its skill, as far as they are known. */
  readonly taskId?: string;
  readonly contextId?: string;
  readonly skill?: string;
  /** Joins the lines of all processes that took part: from the caller's `traceparent` (W3C Trace Context), else a new one. */
  readonly traceId?: string;
  /** The network address of the caller. */
  readonly peer?: string;
  readonly operation?: string;
  /** `jsonrpc`, `http-json`, `grpc`, `grpc-web` or `connect`. */
  readonly wire?: string;
  readonly protocolVersion?: string;
  /** `ok`, the reason of the error, or its code. */
  readonly outcome?: string;
  readonly durationMs?: number;
  /** States before and after, and why. */
  readonly before?: string;
  readonly after?: string;
  readonly reason?: string;
}

/** Takes the lines, in order. What it throws, or rejects with, goes into the log. */
export type Audit = (record: AuditRecord) => void;

/** Ids of callers are their own words: longer ones are cut. */
const maxIdLength = 128;

/** A `traceparent` has 55 characters; a later version of it may add some. */
const maxTraceparentLength = 256;

/** Writes the lines of a server. */
export class AuditTrail {
  readonly #write: Audit;
  readonly #clock: Pick<Clock, "now">;
  /** The trace of the last call about each task. */
  readonly #traces = new RecentMap<string, string>(10_000);

  constructor(write: Audit, clock: Pick<Clock, "now">) {
    this.#write = write;
    this.#clock = clock;
  }

  /** A task has changed its state, and that is durable. */
  noteState({ owner, taskId, contextId, skill, before, after, reason }: StateChange): void {
    this.#write({
      time: this.#time(),
      kind: "state",
      direction: "in",
      ...owner,
      taskId,
      contextId,
      ...(skill === undefined ? {} : { skill }),
      ...traceOf(this.#traces.get(taskId)),
      ...(before === undefined ? {} : { before: formatTaskState(before) }),
      after: formatTaskState(after),
      ...(reason === undefined ? {} : { reason }),
    });
  }

  /** A call has begun. @returns call `saw` with its answers, and `end` once, when it is over */
  begin(method: RpcMethod, request: Message, context: HandlerContext): AuditedCall {
    const startedAt = this.#clock.now();
    const traceId = readTraceId(context.requestHeader.get("traceparent"));
    let task: SeenInCall = { taskId: ownText(taskOf(request).slice(0, maxIdLength)) };
    if (task.taskId !== "") this.#traces.set(task.taskId, traceId);
    return {
      saw: (answer) => {
        const seen = findTask(answer);
        if (seen === undefined || seen.taskId === task.taskId) return;
        task = seen;
        this.#traces.set(seen.taskId, traceId);
      },
      end: (error) => {
        const { values } = context;
        const { callerNetwork } = values.get(runtimeKey);
        const { taskId, ...rest } = task;
        this.#write({
          time: this.#time(),
          kind: "call",
          direction: "in",
          principal: values.get(principalKey).id,
          tenant: values.get(tenantKey),
          ...(taskId === "" ? {} : { taskId, ...rest }),
          traceId,
          ...(callerNetwork === undefined ? {} : { peer: callerNetwork }),
          operation: method.name,
          wire: context.protocolName,
          protocolVersion: values.get(protocolVersionKey),
          outcome: error === undefined ? "ok" : outcomeOf(error),
          durationMs: this.#clock.now() - startedAt,
        });
      },
    };
  }

  #time(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

/** A call whose line is written when it is over. */
export interface AuditedCall {
  saw(answer: unknown): void;
  end(error?: unknown): void;
}

interface SeenInCall {
  readonly taskId: string;
  readonly contextId?: string;
  readonly skill?: string;
}

/** The task that an answer or an event is about, if it is a whole one. */
function findTask(answer: unknown): SeenInCall | undefined {
  const { payload, id, contextId, metadata } = answer as {
    readonly payload?: { readonly case?: string; readonly value?: unknown };
    readonly id?: string;
    readonly contextId?: string;
    readonly metadata?: Parameters<typeof readSkill>[0]["metadata"];
  };
  if (payload?.case === "task") return findTask(payload.value);
  if (id === undefined || contextId === undefined) return undefined;
  const skill = readSkill({ metadata });
  return { taskId: id, contextId, ...(skill === undefined ? {} : { skill }) };
}

function outcomeOf(error: unknown): string {
  return findA2AError(error)?.reason ?? Code[ConnectError.from(error).code];
}

function traceOf(traceId: string | undefined): { readonly traceId?: string } {
  return traceId === undefined ? {} : { traceId };
}

/** The trace id of a `traceparent`; a new one when there is none, or it is malformed or too long. */
function readTraceId(traceparent: string | null): string {
  const given = traceparent !== null && traceparent.length <= maxTraceparentLength ? traceparent : "";
  const [, id] =
    /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/.exec(given) ?? [];
  return id === undefined ? crypto.randomUUID().replaceAll("-", "") : ownText(id);
}
