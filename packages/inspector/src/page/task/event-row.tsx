import { partText } from "@a2a-connect/core";
import type { Artifact } from "@a2a-connect/proto";
import type { JSX } from "preact";
import { formatBytes, shownLine } from "../content/shown.ts";
import { StateBadge } from "../ui/state-badge.tsx";
import { formatDateTime, formatDuration, formatTime } from "../ui/time.ts";
import type { LoggedEvent } from "./logged-event.ts";
import type { TaskLog } from "./task-log.ts";

/** From this on a pause between two events is shown, in milliseconds. */
const gapMs = 1_000;

/** An event in one line: its number, when it was, how long after the one before, and what it says. */
export function EventRow({
  log,
  index,
}: {
  readonly log: TaskLog;
  readonly index: number;
}): JSX.Element | null {
  const event = log.events[index];
  if (event === undefined) return null;
  const { atMs } = event;
  const beforeMs = log.events[index - 1]?.atMs;
  const gap = atMs === undefined || beforeMs === undefined ? 0 : atMs - beforeMs;
  return (
    <div class="event-row">
      <span class="event-id">{event.id ?? "·"}</span>
      <time
        class="event-time"
        title={atMs === undefined ? "The agent does not say when" : formatDateTime(atMs)}
      >
        {atMs === undefined ? "" : formatTime(atMs)}
      </time>
      <span class="event-gap">{gap >= gapMs ? `+${formatDuration(gap)}` : ""}</span>
      <span class="event-what">
        <What event={event} />
      </span>
    </div>
  );
}

function What({ event }: { readonly event: LoggedEvent }): JSX.Element {
  const { payload } = event;
  switch (payload.case) {
    case "task":
      return (
        <>
          <StateBadge state={payload.value.status?.state ?? 0} />{" "}
          {event.id === 1 ? "created" : "the whole task"}
        </>
      );
    case "statusUpdate": {
      const { status } = payload.value;
      return (
        <>
          <StateBadge state={status?.state ?? 0} />{" "}
          {status?.message === undefined ? "" : shownLine(partText(status.message), 120)}
        </>
      );
    }
    case "artifactUpdate": {
      const { artifact, append, lastChunk } = payload.value;
      return (
        <>
          <span class="tag">{append ? "append" : "artifact"}</span>{" "}
          {artifact === undefined ? "" : describe(artifact)}
          {lastChunk ? " · last" : ""}
        </>
      );
    }
    case "message":
      return <>{shownLine(partText(payload.value), 120)}</>;
    case undefined:
      return <span class="muted">an event that cannot be read</span>;
  }
}

function describe(artifact: Artifact): string {
  const name = shownLine(artifact.name || artifact.artifactId, 40);
  const text = partText(artifact);
  const bytes = artifact.parts.reduce(
    (sum, { content }) => sum + (content.case === "raw" ? content.value.length : 0),
    text.length,
  );
  return `${name} · ${formatBytes(bytes)} ${text === "" ? "" : `· ${shownLine(text, 80)}`}`;
}
