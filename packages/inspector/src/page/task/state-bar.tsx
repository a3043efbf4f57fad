import { formatTaskState, isTerminal } from "@a2a-connect/core";
import type { JSX } from "preact";
import { stateWords } from "../ui/state-badge.tsx";
import { formatDuration, now } from "../ui/time.ts";
import type { TaskLog } from "./task-log.ts";

/** Stretches that are drawn; of a task with more, the last ones. */
const maxSegments = 200;

/** How long the task was in which state, as a bar of its wall clock. */
export function StateBar({
  shown,
  onSelect,
}: {
  readonly shown: { readonly current: TaskLog };
  readonly onSelect: (index: number) => void;
}): JSX.Element | null {
  const segments = shown.current.segments.slice(-maxSegments);
  const [first] = segments;
  const last = segments.at(-1);
  if (first === undefined || last === undefined || (first === last && isTerminal(last.state))) return null;
  const isOver = isTerminal(last.state) || !shown.current.isOpen.value;
  const endMs = isOver ? last.fromMs : Math.max(now.value, last.fromMs);
  const total = Math.max(1, endMs - first.fromMs);
  return (
    <div class="state-bar">
      <div class="state-track">
        {segments.map((segment, index) => {
          const length = (segments[index + 1]?.fromMs ?? endMs) - segment.fromMs;
          const words = `${stateWords(segment.state)}: ${formatDuration(length)}`;
          return (
            <button
              key={segment.index}
              type="button"
              class={`segment is-${formatTaskState(segment.state)}`}
              style={{ flexGrow: Math.max(length / total, 0.004) }}
              title={words}
              aria-label={words}
              onClick={() => onSelect(segment.index)}
            />
          );
        })}
      </div>
      <div class="state-legend muted">
        {[...sumByState(segments, endMs)].map(([state, ms]) => (
          <span key={state} class={`legend is-${formatTaskState(state)}`}>
            {stateWords(state)} {formatDuration(ms)}
          </span>
        ))}
        <span class="grow" />
        <span>{formatDuration(endMs - first.fromMs)} in all</span>
      </div>
    </div>
  );
}

function sumByState(
  segments: TaskLog["segments"],
  endMs: number,
): ReadonlyMap<TaskLog["segments"][number]["state"], number> {
  const sums = new Map<TaskLog["segments"][number]["state"], number>();
  for (const [index, { state, fromMs }] of segments.entries()) {
    if (isTerminal(state)) continue;
    const toMs = segments[index + 1]?.fromMs ?? endMs;
    sums.set(state, (sums.get(state) ?? 0) + Math.max(0, toMs - fromMs));
  }
  return sums;
}
