import { findA2AError, formatTaskState, readLifecycleReport } from "@a2a-connect/core";
import { callUnawaited, RecentMap } from "@a2a-connect/core/internal";
import { StreamResponseSchema, type TaskState, type TaskStatus } from "@a2a-connect/proto";
import { isMessage, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

/** One line of a client's audit: a call, or a change of a task's state that it has seen. It has no content and no credentials. */
export interface CallRecord {
  /** ISO 8601. */
  readonly time: string;
  readonly kind: "call" | "state";
  readonly direction: "out";
  /** Origin of the agent. */
  readonly peer: string;
  /** As the `traceparent` of the call has it (W3C Trace Context): the agent's own audit has the same. */
  readonly traceId: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly operation?: string;
  /** `ok`, the reason of the error, or its code; `left` for a stream whose reader went before its end. */
  readonly outcome?: string;
  readonly durationMs?: number;
  /** States before and after, and why. */
  readonly before?: string;
  readonly after?: string;
  readonly reason?: string;
}

/** What is known of a task. */
interface SeenTask {
  readonly taskId: string;
  readonly contextId: string;
  readonly status: TaskStatus | undefined;
}

/** Tasks whose last state is remembered. */
const maxTasks = 10_000;

/** Reasons are an agent's own words: longer ones are cut. */
const maxReasonLength = 128;

/**
 * Writes a line for each call of a client and for each change of state that it sees: one of the `interceptors` of `connectAgent`. Every
 * call says its trace in `traceparent`; one that has it already keeps it.
 *
 * @param takeLine takes the lines, in order; where it fails, a line is lost, and the call goes on
 */
export function auditCalls(takeLine: (record: CallRecord) => void): Interceptor {
  const write = (record: CallRecord): void => callUnawaited(() => takeLine(record));
  const states = new RecentMap<string, TaskState>(maxTasks);
  return (next) => async (request) => {
    const traceId = traceOf(request.header);
    const began = Date.now();
    const about = { direction: "out", peer: new URL(request.url).origin, traceId } as const;
    let task: SeenTask | undefined;
    const see = (message: Message): void => {
      const seen = findTask(message);
      if (seen === undefined) return;
      task = seen;
      const { taskId, contextId, status } = seen;
      const before = states.get(taskId);
      if (status === undefined || status.state === before) return;
      states.set(taskId, status.state);
      const { reason } = readLifecycleReport(status.message?.metadata);
      write({
        time: new Date().toISOString(),
        kind: "state",
        ...about,
        taskId,
        contextId,
        ...(before === undefined ? {} : { before: formatTaskState(before) }),
        after: formatTaskState(status.state),
        ...(typeof reason === "string" ? { reason: reason.slice(0, maxReasonLength) } : {}),
      });
    };
    let isOver = false;
    const end = (outcome: string): void => {
      if (isOver) return;
      isOver = true;
      request.signal.removeEventListener("abort", leave);
      write({
        time: new Date().toISOString(),
        kind: "call",
        ...about,
        ...(task === undefined ? {} : { taskId: task.taskId, contextId: task.contextId }),
        operation: request.method.name,
        outcome,
        durationMs: Date.now() - began,
      });
    };
    const leave = (): void => end("left"); // a stream whose reader has gone is not read to its end
    request.signal.addEventListener("abort", leave, { once: true });
    try {
      const response = await next(request);
      if (response.stream) return { ...response, message: watch(response.message, see, end) };
      see(response.message);
      end("ok");
      return response;
    } catch (error) {
      end(outcomeOf(error));
      throw error;
    }
  };
}

async function* watch<T extends Message>(
  messages: AsyncIterable<T>,
  see: (message: Message) => void,
  end: (outcome: string) => void,
): AsyncGenerator<T, void> {
  let outcome = "left";
  try {
    for await (const message of messages) {
      see(message);
      yield message;
    }
    outcome = "ok";
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    end(outcome);
  }
}

/** The task that an answer or an event is about. */
function findTask(message: Message): SeenTask | undefined {
  const whole = message as {
    readonly id?: string;
    readonly contextId?: string;
    readonly status?: TaskStatus;
  };
  const payload = (message as { readonly payload?: { readonly case?: string; readonly value?: unknown } })
    .payload;
  if (payload?.case === "task") return findTask(payload.value as Message); // what the case says
  if (isMessage(message, StreamResponseSchema)) {
    const { payload: event } = message;
    if (event.case !== "statusUpdate" && event.case !== "artifactUpdate") return undefined;
    const { taskId, contextId } = event.value;
    return { taskId, contextId, status: event.case === "statusUpdate" ? event.value.status : undefined };
  }
  const { id, contextId, status } = whole;
  return id === undefined || contextId === undefined ? undefined : { taskId: id, contextId, status };
}

/** The trace id of the call's `traceparent`, which a call without one gets. */
function traceOf(header: Headers): string {
  const given = /^[\da-f]{2}-([\da-f]{32})-/.exec(header.get("traceparent") ?? "")?.[1];
  if (given !== undefined) return given;
  const traceId = crypto.randomUUID().replaceAll("-", "");
  header.set("traceparent", `00-${traceId}-${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}-01`);
  return traceId;
}

function outcomeOf(error: unknown): string {
  return findA2AError(error)?.reason ?? Code[ConnectError.from(error).code];
}
