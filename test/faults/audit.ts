import { isSettled, readLifecycleReport } from "@a2a-connect/core";
import {
  MessageSchema,
  type Part,
  PartSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
  type TaskStatus,
  TaskStatusSchema,
} from "@a2a-connect/proto";
import { type DescMessage, equals, type MessageShape } from "@bufbuild/protobuf";
import type { Clients } from "./clients.ts";
import { auditLife, fateOf, isAsleep } from "./fate.ts";
import type { ShownStream, ShownTask } from "./ledger.ts";

/** What was compared, and every difference that must not be: one sentence each. */
export interface Audit {
  readonly problems: readonly string[];
  readonly comparedEvents: number;
  readonly comparedAnswers: number;
}

type Log = readonly StreamResponse[];

/**
 * Compares what was shown with the log that the crash has left, and with what a new server says about the task.
 *
 * @param life the whole log by now, where the crash was not the task's end; otherwise what the crash has left
 */
export function auditTask(shown: ShownTask, log: Log, life: Log, now: Task): Audit {
  const problems = [
    ...(log.length === 0 ? ["its log is gone"] : []),
    ...(isRunAt(life, 0, log) ? [] : ["what it went on with is not behind what the crash has left"]),
    ...shown.streams.flatMap((stream) => auditStream(stream, life)),
    ...shown.answers.flatMap((answer) => auditAnswer(answer, life, now)),
    ...auditEnd(life, now),
    ...auditLife(now, life),
    ...[...shown.acknowledged]
      .filter((id) => !now.history.some(({ messageId }) => messageId === id))
      .map((id) => `the acknowledged message ${id} is gone`),
  ];
  return {
    problems: problems.map((problem) => `task ${shown.id}: ${problem}`),
    comparedEvents: shown.streams.reduce((sum, { events }) => sum + events.length, 0),
    comparedAnswers: shown.answers.length,
  };
}

/** Every stream is a piece of the log without a gap: from its begin, or after a snapshot of some point of it. */
function auditStream({ fromCreation, events }: ShownStream, log: Log): string[] {
  const [first, ...updates] = events;
  const task = first?.payload.case === "task" ? first.payload.value : undefined;
  if (first === undefined || task === undefined) return ["a stream did not begin with a task"];
  if (fromCreation)
    return isRunAt(log, 0, events) ? [] : [`its stream is not how the log begins: ${describe(events)}`];
  const start =
    updates[0] === undefined
      ? log.length
      : log.findIndex((event) => same(StreamResponseSchema, event, updates[0]));
  if (start === -1 || !isRunAt(log, start, updates))
    return [`a subscription is no piece of the log: ${describe(events)}`];
  const folded = foldArtifacts(log.slice(0, start));
  return updates.length === 0 || isSameArtifacts(artifactsOf(task), folded)
    ? []
    : ["between the snapshot of a subscription and what followed it is a gap"];
}

function isRunAt(log: Log, start: number, events: Log): boolean {
  return events.every((event, index) => same(StreamResponseSchema, log[start + index], event));
}

/** An answer is a state that the log went through, and nothing of it was taken back. */
function auditAnswer(answer: Task, log: Log, now: Task): string[] {
  const { status } = answer;
  const problems: string[] = [];
  if (!statusesOf(log).some((past) => past.state === status?.state && sameTime(past, status))) {
    problems.push(`the log never was ${stateName(status?.state)} as an answer said`);
  }
  for (const [index, message] of answer.history.entries()) {
    if (!same(MessageSchema, now.history[index], message))
      problems.push(`history[${index}] of an answer is gone`);
  }
  if (answer.artifacts.length > 0 && !isPastOf(artifactsOf(answer), log)) {
    problems.push("the artifacts of an answer are no point of the log");
  }
  return problems;
}

/** The log's last state stands, but for a turn that the kill has ended: that one FAILED with reason `interrupted`. */
function auditEnd(log: Log, now: Task): string[] {
  const last = lastStatus(log);
  if (last === undefined) return ["its log has no status"];
  const problems = isSameArtifacts(artifactsOf(now), foldArtifacts(log))
    ? []
    : ["its artifacts are not those of its log"];
  if (isSettled(last.state) || fateOf(now) !== "ends") {
    return same(TaskStatusSchema, now.status, last)
      ? problems
      : [...problems, `${stateName(last.state)} became ${stateName(now.status?.state)}`];
  }
  const { reason } = readLifecycleReport(now.status?.message?.metadata);
  return now.status?.state === TaskState.FAILED && reason === "interrupted"
    ? problems
    : [...problems, `was at work and became ${stateName(now.status?.state)} with reason ${reason}`];
}

/** Compares the whole list, page by page, with each task by itself. */
export async function auditList(clients: Clients, tasks: ReadonlyMap<string, Task>): Promise<string[]> {
  const listed = new Map<string, Task>();
  const problems: string[] = [];
  let pageToken = "";
  do {
    const page = await clients.next().listTasks({ pageToken, pageSize: 100, includeArtifacts: true });
    for (const task of page.tasks) {
      if (listed.has(task.id)) problems.push(`task ${task.id} is listed twice`);
      listed.set(task.id, task);
    }
    pageToken = page.nextPageToken;
    if (pageToken === "" && page.totalSize !== listed.size) {
      problems.push(`the list has ${listed.size} tasks and says ${page.totalSize}`);
    }
  } while (pageToken !== "");
  for (const [id, task] of tasks) {
    if (!same(TaskSchema, listed.get(id), task)) problems.push(`task ${id} is not in the list as it is`);
  }
  for (const task of listed.values()) {
    const { id, status } = task;
    if (status === undefined || !(isSettled(status.state) || isAsleep(task))) {
      problems.push(`task ${id} is ${stateName(status?.state)}, although nobody works on it`);
    }
  }
  return problems;
}

type Artifacts = ReadonlyMap<string, readonly Part[]>;

function artifactsOf({ artifacts }: Task): Artifacts {
  return new Map(artifacts.map(({ artifactId, parts }) => [artifactId, parts]));
}

/** The rule of requirement A-29, written down once more so that it can be compared with the reducer's. */
function foldArtifacts(log: Log): Artifacts {
  const artifacts = new Map<string, readonly Part[]>();
  for (const { payload } of log) {
    if (payload.case === "artifactUpdate" && payload.value.artifact !== undefined) {
      const { artifactId, parts } = payload.value.artifact;
      artifacts.set(artifactId, [
        ...(payload.value.append ? (artifacts.get(artifactId) ?? []) : []),
        ...parts,
      ]);
    }
  }
  return artifacts;
}

function isSameArtifacts(one: Artifacts, other: Artifacts): boolean {
  return one.size === other.size && [...one].every(([id, parts]) => isPrefix(parts, other.get(id), true));
}

/** The newest status in a log. */
export function lastStatus(log: Log): TaskStatus | undefined {
  return statusesOf(log).at(-1);
}

/** Whether some point of the log has these artifacts: all are prefixes of it, or were replaced since. */
function isPastOf(artifacts: Artifacts, log: Log): boolean {
  const updates = log.flatMap(({ payload }) => (payload.case === "artifactUpdate" ? [payload.value] : []));
  const end = foldArtifacts(log);
  return [...artifacts].every(
    ([id, parts]) =>
      isPrefix(parts, end.get(id), false) ||
      updates.some(
        ({ artifact, append }) =>
          !append && artifact?.artifactId === id && isPrefix(parts, artifact.parts, true),
      ),
  );
}

function isPrefix(parts: readonly Part[], whole: readonly Part[] | undefined, entirely: boolean): boolean {
  return (
    whole !== undefined &&
    (entirely ? parts.length === whole.length : parts.length <= whole.length) &&
    parts.every((part, index) => same(PartSchema, part, whole[index]))
  );
}

function statusesOf(log: Log): TaskStatus[] {
  return log.flatMap(({ payload }) => {
    const status =
      payload.case === "task" || payload.case === "statusUpdate" ? payload.value.status : undefined;
    return status === undefined ? [] : [status];
  });
}

function sameTime({ timestamp }: TaskStatus, other: TaskStatus | undefined): boolean {
  return timestamp?.seconds === other?.timestamp?.seconds && timestamp?.nanos === other?.timestamp?.nanos;
}

function same<Desc extends DescMessage>(
  desc: Desc,
  one: MessageShape<Desc> | undefined,
  other: MessageShape<Desc> | undefined,
): boolean {
  return one !== undefined && other !== undefined && equals(desc, one, other);
}

function stateName(state: TaskState | undefined): string {
  return Object.entries(TaskState).find(([, value]) => value === state)?.[0] ?? "nothing";
}

function describe(events: Log): string {
  return `${events.length} events, the last a ${events.at(-1)?.payload.case}`;
}
