import type { AgentClient } from "@a2a-connect/client";
import { formatTaskState, isTerminal, partText } from "@a2a-connect/core";
import { Role, type Task, TaskState } from "@a2a-connect/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { shownLine } from "../content/shown.ts";
import { linkTo } from "../route.ts";
import { OpenLogButton } from "../task/open-log.tsx";
import { FailureNotice } from "../ui/notice.tsx";
import { StateBadge, stateWords } from "../ui/state-badge.tsx";
import { formatDateTime, formatDuration, now } from "../ui/time.ts";
import { states, TaskTable } from "./task-table.ts";
import { whyWaiting } from "./waiting.ts";

/** The agent's tasks, as they are now. */
export function TasksView({ agent }: { readonly agent: AgentClient }): JSX.Element {
  const table = useMemo(() => new TaskTable(agent), [agent]);
  useEffect(() => {
    table.open();
    return () => table.close();
  }, [table]);
  const failure = table.failure.value;
  const isKnown = failure === undefined || table.rows.value !== undefined;
  return (
    <div class="page">
      <header class="view-bar">
        <h1>Tasks</h1>
        {isKnown ? <Filters table={table} /> : null}
        <OpenLogButton />
      </header>
      <div class="column is-wide">
        {isKnown ? <Counts table={table} /> : null}
        {failure === undefined ? null : <FailureNotice failure={failure} />}
        {isKnown ? <Rows table={table} agent={agent} /> : null}
      </div>
    </div>
  );
}

function Counts({ table }: { readonly table: TaskTable }): JSX.Element {
  const chosen = table.filter.value.state;
  const counts = table.counts.value;
  const total = [...counts.values()].reduce((sum, each) => sum + each, 0);
  const choices = [TaskState.UNSPECIFIED, ...states];
  return (
    <fieldset class="counts">
      <legend class="hidden">Tasks by state</legend>
      {choices.map((state) => (
        <button
          key={state}
          type="button"
          class={`count is-${formatTaskState(state)}`}
          aria-pressed={chosen === state}
          onClick={() => table.change({ state })}
        >
          <strong>
            {(state === TaskState.UNSPECIFIED ? total : (counts.get(state) ?? 0)).toLocaleString("en")}
          </strong>
          <span>{state === TaskState.UNSPECIFIED ? "all" : stateWords(state)}</span>
        </button>
      ))}
    </fieldset>
  );
}

const periods = [
  { minutes: 0, label: "Any time" },
  { minutes: 5, label: "Last 5 minutes" },
  { minutes: 60, label: "Last hour" },
  { minutes: 1_440, label: "Last day" },
];

function Filters({ table }: { readonly table: TaskTable }): JSX.Element {
  const { contextId, minutes } = table.filter.value;
  return (
    <>
      <select
        class="small"
        aria-label="When the status changed"
        value={minutes}
        onChange={(event) => table.change({ minutes: Number(event.currentTarget.value) })}
      >
        {periods.map((period) => (
          <option key={period.minutes} value={period.minutes}>
            {period.label}
          </option>
        ))}
      </select>
      <input
        class="small"
        type="search"
        aria-label="Context id"
        placeholder="Context id"
        value={contextId}
        onChange={(event) => table.change({ contextId: event.currentTarget.value.trim() })}
      />
      <span class="grow" />
      {table.failure.value === undefined ? (
        <span class="live muted">
          <span class="pulse" aria-hidden="true" />
          live
        </span>
      ) : null}
    </>
  );
}

function Rows({ table, agent }: { readonly table: TaskTable; readonly agent: AgentClient }): JSX.Element {
  const rows = table.rows.value;
  if (rows === undefined) return <div class="loading" role="status" aria-label="Loading tasks" />;
  if (rows.tasks.length === 0) {
    return (
      <section class="panel empty">
        <p>There are no such tasks.</p>
        <p class="muted">
          <a href={linkTo("talk")}>Send the agent a message</a>, and its task appears here.
        </p>
      </section>
    );
  }
  return (
    <section class="panel is-tight">
      <div class="scroll">
        <table class="tasks">
          <thead>
            <tr>
              <th>State</th>
              <th>Task</th>
              <th>Since</th>
              <th>Last word</th>
            </tr>
          </thead>
          <tbody>
            {rows.tasks.map((task) => (
              <Row key={task.id} task={task} agent={agent} />
            ))}
          </tbody>
        </table>
      </div>
      <div class="pager">
        <button
          type="button"
          class="button small"
          disabled={table.page === 1}
          onClick={() => table.turnPage(false)}
        >
          Newer
        </button>
        <span class="muted">
          Page {table.page} · {rows.totalSize.toLocaleString("en")} tasks
        </span>
        <button
          type="button"
          class="button small"
          disabled={rows.nextPageToken === ""}
          onClick={() => table.turnPage(true)}
        >
          Older
        </button>
      </div>
    </section>
  );
}

function Row({ task, agent }: { readonly task: Task; readonly agent: AgentClient }): JSX.Element {
  const { id, status } = task;
  const state = status?.state ?? TaskState.UNSPECIFIED;
  const since = status?.timestamp === undefined ? undefined : timestampMs(status.timestamp);
  const why = whyWaiting(status, agent.card, now.value);
  return (
    <tr>
      <td>
        <StateBadge state={state} />
      </td>
      <td>
        <a class="row-link" href={linkTo("task", id)}>
          {shownLine(titleOf(task), 100)}
        </a>
        <code class="muted">{shownLine(id, 60)}</code>
      </td>
      <td class="is-number" title={since === undefined ? "" : formatDateTime(since)}>
        {since === undefined ? "–" : `${formatDuration(now.value - since)} ago`}
      </td>
      <td>
        {status?.message === undefined ? null : <div>{shownLine(partText(status.message), 160)}</div>}
        {why === undefined || isTerminal(state) ? null : <div class="why muted">{why}</div>}
      </td>
    </tr>
  );
}

/** What the caller has asked for, if the agent still shows it. */
function titleOf({ history }: Task): string {
  const asked = history.find(({ role }) => role === Role.USER);
  const text = asked === undefined ? "" : partText(asked);
  return text.trim() === "" ? "Task" : text;
}
