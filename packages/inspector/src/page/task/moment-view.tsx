import { partText } from "@a2a-connect/core";
import { type Artifact, Role, type Task, TaskSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { JsonTree } from "../content/json-tree.tsx";
import { Parts } from "../content/part-view.tsx";
import { shownLine } from "../content/shown.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { StateBadge } from "../ui/state-badge.tsx";
import type { TaskLog } from "./task-log.ts";

/** Artifacts that are shown of a task; of one with more, the last ones. */
const maxArtifacts = 20;

/** The task as of one of its events, and the event itself. */
export function MomentView({ log, index }: { readonly log: TaskLog; readonly index: number }): JSX.Element {
  const isRaw = useSignal(false);
  const event = log.events[index];
  return (
    <section class="panel moment" aria-label="The task at this event">
      <header class="moment-head">
        <div class="tabs" role="tablist" aria-label="What is shown of the event">
          {[false, true].map((raw) => (
            <button
              key={String(raw)}
              type="button"
              role="tab"
              aria-selected={isRaw.value === raw}
              onClick={() => {
                isRaw.value = raw;
              }}
            >
              {raw ? "Event" : "Task here"}
            </button>
          ))}
        </div>
        <span class="grow" />
        {event === undefined ? null : (
          <CopyButton text={() => JSON.stringify(event.json, null, 2)} label="Copy event" />
        )}
      </header>
      {event === undefined ? (
        <p class="muted">There is no event yet.</p>
      ) : isRaw.value ? (
        <div class="json">
          <JsonTree key={index} value={event.json} openLevels={6} />
        </div>
      ) : (
        <TaskAt log={log} index={index} />
      )}
    </section>
  );
}

function TaskAt({ log, index }: { readonly log: TaskLog; readonly index: number }): JSX.Element {
  const { status, artifacts, history } = useTaskAt(log, index);
  const message = status?.message;
  const isInHistory = history.at(-1)?.messageId === message?.messageId;
  return (
    <>
      <p>
        <StateBadge state={status?.state ?? 0} />{" "}
        <span class="muted">
          after event {log.events[index]?.id ?? index + 1} · {artifacts.length}{" "}
          {artifacts.length === 1 ? "artifact" : "artifacts"}
        </span>
      </p>
      {history.slice(-20).map((message) => (
        <div key={message.messageId} class={`bubble ${message.role === Role.USER ? "is-mine" : ""}`}>
          <Parts parts={message.parts} />
        </div>
      ))}
      {message === undefined || partText(message) === "" || isInHistory ? null : (
        <div class="bubble">
          <Parts parts={message.parts} />
        </div>
      )}
      {artifacts.slice(-maxArtifacts).map((artifact) => (
        <ArtifactAt key={artifact.artifactId} artifact={artifact} count={artifact.parts.length} />
      ))}
    </>
  );
}

/** Parts that are shown of an artifact before a person asks for all of them. */
const maxParts = 300;

function ArtifactAt({
  artifact,
  count,
}: {
  readonly artifact: Artifact;
  /** How many parts it has: it changes when the artifact has grown. */
  readonly count: number;
}): JSX.Element {
  const isWhole = useSignal(false);
  const isCut = count > maxParts && !isWhole.value;
  return (
    <article class="artifact">
      <header>
        <strong>{shownLine(artifact.name || artifact.artifactId, 100)}</strong>
        <span class="muted">{count === 1 ? "1 part" : `${count.toLocaleString("en")} parts`}</span>
        {isCut ? (
          <button
            type="button"
            class="link"
            onClick={() => {
              isWhole.value = true;
            }}
          >
            the last {maxParts} are shown; show all
          </button>
        ) : null}
      </header>
      <Parts parts={isCut ? artifact.parts.slice(-maxParts) : artifact.parts} />
    </article>
  );
}

/** The task after an event. One that is far from those that are known is made in slices, and the one before stays meanwhile. */
function useTaskAt(log: TaskLog, index: number): Task {
  const made = useSignal<{ readonly index: number; readonly task: Task } | undefined>(undefined);
  useEffect(() => {
    if (log.isNear(index)) return undefined;
    const left = new AbortController();
    void log.makeTaskAt(index, left.signal).then((task) => {
      if (!left.signal.aborted) made.value = { index, task };
    });
    return () => left.abort();
  }, [log, index, made]);
  if (log.isNear(index)) return log.taskAt(index);
  return made.value?.task ?? create(TaskSchema, { id: log.taskId });
}
