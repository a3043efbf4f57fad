import { lastEventIdHeader } from "@a2a-connect/core/internal";
import { type StreamResponse, type Task, TaskState, TaskStatusSchema } from "@a2a-connect/proto";
import { wordsOf } from "@a2a-connect/testing";
import { equals } from "@bufbuild/protobuf";
import type { Clients } from "./clients.ts";

/** What a crash does to a task at work: ends it, makes its turn begin again, or nothing that could be seen. */
export type Fate = "ends" | "begins again" | "goes on";

/** The fate of a task, by the command that it began with. */
export function fateOf(task: Task): Fate {
  const command = commandOf(task);
  if (/^(?:stream|replace|sleep|ask|auth) ?/.test(command)) return "goes on";
  return command.startsWith("turn-restart ") ? "begins again" : "ends";
}

/** Whether the task does nothing but sleep until long after the test. */
export function isAsleep(task: Task): boolean {
  return task.status?.state === TaskState.WORKING && commandOf(task).startsWith("sleep ");
}

/**
 * What is wrong with the whole life of a task that a crash must not end: it has to be as if nothing had happened, or to
 * end with a whole turn.
 */
export function auditLife(task: Task, life: readonly StreamResponse[]): string[] {
  const words = wordsOf(life);
  switch (fateOf(task)) {
    case "ends":
      return [];
    case "begins again":
      return isSame(words.slice(-turn.length), turn)
        ? []
        : [`its last turn is not whole: ${words.join(", ")}`];
    case "goes on": {
      const whole = undisturbedLife(commandOf(task));
      const wasCanceled = words.at(-1) === "canceled" && /^(?:sleep|ask nobody)/.test(commandOf(task));
      const lived = wasCanceled ? words.slice(0, -1) : words;
      const mayRest = wasCanceled || lived.length === whole.length || isWaiting(task);
      return mayRest && isSame(lived, whole.slice(0, lived.length))
        ? []
        : [`a crash can be seen in it: ${words.slice(-5).join(", ")} (${words.length} events)`];
    }
  }
}

/** All events of a task until now, as any caller may read them. */
export async function readLife(clients: Clients, { id, status }: Task): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  const headers = { [lastEventIdHeader]: "0" };
  for await (const event of clients.next().subscribeToTask({ id }, { headers })) {
    events.push(event);
    const { payload } = event;
    const now = payload.case === "statusUpdate" ? payload.value.status : undefined;
    if (now !== undefined && status !== undefined && equals(TaskStatusSchema, now, status)) break;
  }
  return events;
}

/** One turn of `turn-restart`. */
const turn = ["artifact turn", ...Array<string>(9).fill("artifact turn +"), "completed"];

/** All events of a durable command, as long as nobody cancels it. */
function undisturbedLife(command: string): string[] {
  const [verb, size] = command.split(" ");
  const count = Number(size);
  const middle: Readonly<Record<string, readonly string[]>> = {
    stream: ["artifact stream", ...Array<string>(Math.max(0, count - 1) || 0).fill("artifact stream +")],
    replace: Array<string>(count || 0).fill("artifact replaced"),
    sleep: ["working"],
    ask: ["input-required", "working", "artifact artifact-1"],
    auth: ["auth-required", "working"],
  };
  return ["task submitted", ...(middle[verb ?? ""] ?? []), "completed"];
}

function isWaiting(task: Task): boolean {
  const state = task.status?.state;
  return state === TaskState.INPUT_REQUIRED || state === TaskState.AUTH_REQUIRED || isAsleep(task);
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, index) => word === other[index]);
}

function commandOf({ history }: Task): string {
  const content = history[0]?.parts[0]?.content;
  return content?.case === "text" ? content.value : "";
}
