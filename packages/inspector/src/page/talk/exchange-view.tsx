import { isTerminal, readLifecycleReport } from "@a2a-connect/core";
import { Role, TaskState } from "@a2a-connect/proto";
import type { JSX } from "preact";
import { Parts, Pieces } from "../content/part-view.tsx";
import { shownLine } from "../content/shown.ts";
import { linkTo } from "../route.ts";
import { Icon } from "../ui/icon.tsx";
import { FailureNotice } from "../ui/notice.tsx";
import { StateBadge } from "../ui/state-badge.tsx";
import { send } from "./conversation.ts";
import type { Exchange } from "./exchange.ts";
import { QuestionForm } from "./question-form.tsx";
import type { Entry, TaskFold } from "./task-fold.ts";

/** A message, and what the agent makes of it. */
export function ExchangeView({ exchange }: { readonly exchange: Exchange }): JSX.Element {
  const shown = exchange.shown.value;
  const { current: fold } = shown;
  const failure = exchange.failure.value;
  return (
    <section class="exchange" aria-label="Exchange">
      {fold.entries.map((entry, index) => (
        <EntryView
          key={index}
          entry={entry}
          version={entry.is === "artifact" ? entry.artifact.updates : 0}
          isGrowing={exchange.phase.value === "open"}
        />
      ))}
      <Progress exchange={exchange} shown={shown} />
      {exchange.phase.value === "waiting" ? <QuestionForm exchange={exchange} /> : null}
      {failure === undefined ? null : <FailureNotice failure={failure} />}
      <Footer exchange={exchange} shown={shown} />
    </section>
  );
}

function EntryView({
  entry,
  isGrowing,
}: {
  readonly entry: Entry;
  /** Changes with what is in the entry. */
  readonly version: number;
  readonly isGrowing: boolean;
}): JSX.Element {
  switch (entry.is) {
    case "input":
      return (
        <div class="bubble is-mine">
          <span class="hidden">You: </span>
          <Parts parts={entry.parts} />
        </div>
      );
    case "message": {
      const reason = readLifecycleReport(entry.message.metadata).reason;
      const isBad = entry.state === TaskState.FAILED || entry.state === TaskState.REJECTED;
      return (
        <div class={`bubble ${isBad ? "is-bad" : ""}`}>
          {entry.message.role === Role.USER ? <span class="hidden">You: </span> : null}
          <Parts parts={entry.message.parts} />
          {typeof reason === "string" ? <code class="reason">{shownLine(reason, 80)}</code> : null}
        </div>
      );
    }
    case "artifact": {
      const { artifact } = entry;
      return (
        <article class="artifact">
          <header>
            <strong>{shownLine(artifact.name || artifact.id, 100)}</strong>
            {artifact.description === "" ? null : (
              <span class="muted">{shownLine(artifact.description, 200)}</span>
            )}
            {artifact.updates > 1 ? <span class="muted">{artifact.updates} updates</span> : null}
          </header>
          <Pieces
            pieces={artifact.pieces}
            version={artifact.updates}
            isGrowing={isGrowing && !artifact.isComplete}
          />
        </article>
      );
    }
  }
}

/** Views with the same properties are not drawn again, so what has changed inside is one of them. */
interface Shown {
  readonly exchange: Exchange;
  readonly shown: { readonly current: TaskFold };
}

function Progress({ exchange, shown }: Shown): JSX.Element | null {
  if (exchange.phase.value !== "open") return null;
  const { progress, state } = shown.current;
  const words =
    state === TaskState.SUBMITTED && shown.current.events < 2
      ? "Accepted, waiting to start"
      : shown.current.events > 0
        ? "Working"
        : "Sent";
  return (
    <div class="progress" role="status">
      <span class="pulse" aria-hidden="true" />
      {progress?.text === undefined || progress.text.parts.length === 0 ? (
        <span>{words} …</span>
      ) : (
        <Parts parts={progress.text.parts} />
      )}
      {progress?.part === undefined ? null : (
        <progress max={1} value={progress.part} aria-label="Progress of the task" />
      )}
    </div>
  );
}

function Footer({ exchange, shown }: Shown): JSX.Element {
  const { current: fold } = shown;
  const phase = exchange.phase.value;
  const isOver = phase === "over";
  return (
    <footer class="exchange-footer">
      {fold.status === undefined ? null : <StateBadge state={fold.state} />}
      {fold.taskId === "" ? null : (
        <a class="quiet-link" href={linkTo("task", fold.taskId)} title={fold.taskId}>
          {countEvents(fold)} · open task
        </a>
      )}
      <span class="grow" />
      {fold.taskId !== "" && !isTerminal(fold.state) && !isOver ? (
        <button type="button" class="button small quiet" onClick={() => void exchange.cancel()}>
          <Icon name="stop" />
          Cancel
        </button>
      ) : null}
      {phase === "paused" ? (
        <button type="button" class="button small" onClick={() => void exchange.goOn()}>
          Paused while others stream: go on
        </button>
      ) : null}
      {isOver && exchange.sent.parts.length > 0 ? (
        <button type="button" class="button small quiet" onClick={() => send(exchange.sent)}>
          <Icon name="again" />
          Send again
        </button>
      ) : null}
    </footer>
  );
}

function countEvents({ events }: TaskFold): string {
  return events === 1 ? "1 event" : `${events.toLocaleString("en")} events`;
}
