import { isTerminal } from "@a2a-connect/core";
import type { TaskNoteJson } from "@a2a-connect/proto/a2aconnect/notes/v1";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { formatBytes, shown, shownLine } from "../content/shown.ts";
import { formatDuration, formatTime, now } from "../ui/time.ts";
import type { TaskLog } from "./task-log.ts";
import { kindOf, TaskNotes, timeOf, toLanes, type Work } from "./task-notes.ts";

/** Stretches and notes that are drawn; of a task with more, the last ones. */
const maxDrawn = 200;

/** What the agent's code did, on the clock of the bar above it, and the notes that tell of it. */
export function WorkView({
  log,
  onSelect,
}: {
  readonly log: TaskLog;
  readonly onSelect: (index: number) => void;
}): JSX.Element | null {
  const reader = useMemo(() => new TaskNotes(log.taskId), [log]);
  useEffect(() => {
    const left = new AbortController();
    void reader.follow(() => isTerminal(log.status?.state ?? 0), left.signal);
    return () => left.abort();
  }, [reader, log]);
  const { segments } = log.shown.value.current;
  const { value: notes } = reader.notes;
  const [first] = segments;
  const last = segments.at(-1);
  if (notes.length === 0 || first === undefined || last === undefined) return null;
  const endMs = isTerminal(last.state) ? last.fromMs : now.value;
  return (
    <section class="work" aria-label="What the agent's code did">
      {[...toLanes(notes, segments)].map(([name, works]) => (
        <div key={name} class="lane">
          <span class="muted">{name}</span>
          <div class="lane-track">
            {works.slice(-maxDrawn).map((work, index) => (
              <Bar key={index} work={work} fromMs={first.fromMs} endMs={endMs} onSelect={onSelect} />
            ))}
          </div>
        </div>
      ))}
      <details>
        <summary>
          {notes.length === 1 ? "1 note" : `${notes.length.toLocaleString("en")} notes`} of the agent's code
        </summary>
        <div class="scroll notes">
          <table>
            <tbody>
              {notes.slice(-maxDrawn).map((note) => (
                <NoteRow key={note.sequence} note={note} reader={reader} />
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}

function Bar({
  work: { name, fromMs, toMs = Number.POSITIVE_INFINITY, tone, generation },
  fromMs: beganMs,
  endMs,
  onSelect,
}: {
  readonly work: Work;
  readonly fromMs: number;
  readonly endMs: number;
  readonly onSelect: (index: number) => void;
}): JSX.Element {
  const total = Math.max(1, endMs - beganMs);
  const percent = (ms: number): number => Math.min(100, Math.max(0, ((ms - beganMs) / total) * 100));
  const words = `${shownLine(name, 100)}: ${formatDuration(Math.min(toMs, endMs) - fromMs)}`;
  const [left, right] = [percent(fromMs), percent(toMs)];
  return (
    <button
      type="button"
      class={`segment is-${tone}`}
      style={{ left: `min(${left}%, 100% - 3px)`, width: `max(3px, ${right - left}% - 1px)` }}
      title={words}
      aria-label={words}
      onClick={() => onSelect(Math.max(0, generation - 1))}
    />
  );
}

function NoteRow({ note, reader }: { readonly note: TaskNoteJson; readonly reader: TaskNotes }): JSX.Element {
  const payload = useSignal<string | undefined>(undefined);
  const atMs = timeOf(note);
  const load = async (): Promise<void> => {
    payload.value = (await reader.payloadOf(note).catch(() => undefined)) || "nothing";
  };
  return (
    <tr>
      <td class="is-number">{Number.isNaN(atMs) ? "" : formatTime(atMs)}</td>
      <td>{kindOf(note)}</td>
      <td>
        <code>{shownLine(note.name ?? "", 100)}</code>
        {note.resumedAt === undefined ? "" : " after the code began again"}
      </td>
      <td>
        {payload.value === undefined ? (
          <button type="button" class="link" onClick={() => void load()}>
            {formatBytes(note.payloadBytes ?? 0)}
          </button>
        ) : (
          <code>{shown(payload.value.slice(0, 2_000))}</code>
        )}
      </td>
    </tr>
  );
}
