import type { AgentClient } from "@a2a-connect/client";
import { isInterrupted, isTerminal } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { save } from "../content/download.ts";
import { shownLine } from "../content/shown.ts";
import { linkTo } from "../route.ts";
import { explain, type Failure } from "../session/failure.ts";
import { continueTask } from "../talk/conversation.ts";
import { whyWaiting } from "../tasks/waiting.ts";
import { Icon } from "../ui/icon.tsx";
import { FailureNotice } from "../ui/notice.tsx";
import { StateBadge } from "../ui/state-badge.tsx";
import { now } from "../ui/time.ts";
import { VirtualList } from "../ui/virtual-list.tsx";
import { EventRow } from "./event-row.tsx";
import { MomentView } from "./moment-view.tsx";
import { StateBar } from "./state-bar.tsx";
import { TaskLog } from "./task-log.ts";
import { WorkView } from "./work-view.tsx";

const rowHeight = 34;

/** How often the task is drawn while events come in, in milliseconds. */
const momentMs = 400;

/** One task: its events in time, and the task as of any of them. */
export function TaskView({
  log,
  agent,
}: {
  readonly log: TaskLog;
  readonly agent: AgentClient | undefined;
}): JSX.Element {
  // A log that was opened begins at its beginning, one that is followed at its end.
  const chosen = useSignal<number | undefined>(agent === undefined ? 0 : undefined);
  const problem = useSignal<Failure | undefined>(undefined);
  const { value: shown } = log.shown;
  const count = log.events.length;
  const index = chosen.value ?? count - 1;
  const moment = useThrottled(index, log.isOpen.value && chosen.value === undefined ? momentMs : 0);
  const failure = problem.value ?? log.failure.value;
  const select = (to: number): void => {
    chosen.value = to >= count - 1 ? undefined : to;
  };
  const attempt = (work: Promise<unknown>): void => {
    work.then(
      () => {
        problem.value = undefined;
      },
      (error: unknown) => {
        problem.value = explain(error);
      },
    );
  };
  const state = log.stateAt(count - 1);
  return (
    <div class="page task-page">
      <header class="view-bar">
        <a class="quiet-link" href={linkTo("tasks")}>
          Tasks
        </a>
        <h1 class="is-mono task-id">{shownLine(log.taskId, 80)}</h1>
        {count === 0 ? null : <StateBadge state={state} />}
        <span class="grow" />
        {agent === undefined || isTerminal(state) || state === TaskState.UNSPECIFIED ? null : (
          <button
            type="button"
            class="button small quiet"
            onClick={() => attempt(agent.cancelTask(log.taskId))}
          >
            <Icon name="stop" />
            Cancel
          </button>
        )}
        <button
          type="button"
          class="button small quiet"
          disabled={count === 0}
          onClick={() => attempt(exportLog(log, agent?.card.name ?? ""))}
        >
          <Icon name="download" />
          Export log
        </button>
      </header>
      <div class="task-body">
        <div class="task-top">
          {failure === undefined ? null : <FailureNotice failure={failure} />}
          {count > 0 && log.events[0]?.id === undefined ? (
            <p class="muted">
              The agent does not number its events. Those before you opened this page are not known.
            </p>
          ) : null}
          <Waiting log={log} shown={shown} agent={agent} />
          <StateBar shown={shown} onSelect={select} />
          {agent === undefined ? null : <WorkView log={log} onSelect={select} />}
          <label class="scrub">
            <span class="hidden">Event</span>
            <input
              type="range"
              min={0}
              max={Math.max(0, count - 1)}
              value={Math.max(0, index)}
              disabled={count < 2}
              onInput={(event) => select(Number(event.currentTarget.value))}
            />
            <output class="muted">
              {count === 0
                ? "no events"
                : `event ${(index + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`}
            </output>
          </label>
        </div>
        <section class="panel is-tight events" aria-label="Events">
          <VirtualList
            count={count}
            rowHeight={rowHeight}
            label="Events of the task"
            selected={index < 0 ? undefined : index}
            followsEnd={chosen.value === undefined}
            onSelect={select}
            renderRow={(row) => <EventRow log={log} index={row} />}
          />
        </section>
        <MomentView log={log} index={moment} />
      </div>
    </div>
  );
}

/** A value that changes at most once in `ms`, and at once when that is 0. */
function useThrottled(value: number, ms: number): number {
  const [shown, show] = useState(value);
  const shownAt = useRef(0);
  useEffect(() => {
    const change = (): void => {
      shownAt.current = performance.now();
      show(value);
    };
    const timer = setTimeout(change, Math.max(0, shownAt.current + ms - performance.now()));
    return () => clearTimeout(timer);
  }, [value, ms]);
  return ms === 0 ? value : shown;
}

/** What the task waits for, if it has not ended. */
function Waiting({
  log,
  agent,
}: {
  readonly log: TaskLog;
  readonly shown: { readonly current: TaskLog };
  readonly agent: AgentClient | undefined;
}): JSX.Element | null {
  const last = log.segments.at(-1);
  if (agent === undefined || last === undefined) return null;
  const why = whyWaiting(log.status, agent.card, now.value);
  if (why === undefined) return null;
  return (
    <div class="why notice">
      <p>{why}</p>
      {isInterrupted(last.state) ? (
        <a class="button small" href={linkTo("talk")} onClick={() => continueTask(log.taskId)}>
          Answer
        </a>
      ) : null}
    </div>
  );
}

async function exportLog(log: TaskLog, agentName: string): Promise<void> {
  const lines: string[] = [];
  for await (const line of log.toLines(agentName)) lines.push(line);
  save(`${log.taskId}.a2a-task-log.jsonl`, lines, "application/jsonl");
}

/** A task of the agent, followed while it is shown. */
export function FollowedTaskView({
  agent,
  taskId,
}: {
  readonly agent: AgentClient;
  readonly taskId: string;
}): JSX.Element {
  const log = useMemo(() => new TaskLog(taskId), [taskId]);
  useEffect(() => {
    const left = new AbortController();
    void log.follow(agent, left.signal);
    return () => left.abort(new Error("the task is no longer shown"));
  }, [log, agent]);
  const failure = log.failure.value;
  return failure === undefined || log.events.length > 0 ? (
    <TaskView log={log} agent={agent} />
  ) : (
    <div class="column">
      <FailureNotice failure={failure} />
    </div>
  );
}
