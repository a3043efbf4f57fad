import { isInterrupted } from "@a2a-connect/core";
import { chunksOf, isObject, readAtMost } from "@a2a-connect/core/internal";
import type { ListTaskNotesResponseJson, TaskNoteJson } from "@a2a-connect/proto/a2aconnect/notes/v1";
import { type ReadonlySignal, signal } from "@preact/signals";
import { cardSource } from "../session/page-facts.ts";
import { pageFetch } from "../session/page-fetch.ts";
import type { Segment } from "./task-log.ts";

/** How long after an answer later notes are asked for, in milliseconds. */
const refreshMs = 2_000;

/** Pages that are read one right after the other. */
const maxPages = 100;

/** Longest answer that is read. */
const maxPageBytes = 8 * 2 ** 20;

type Page = ListTaskNotesResponseJson;

/** What can be used of an answer: an agent may send anything. */
function toPage(json: unknown): Page | undefined {
  if (!isObject(json)) return undefined;
  const { notes, nextPageToken, hasMore } = json;
  return {
    notes: Array.isArray(notes) ? notes.filter(isObject).map(toNote) : [],
    nextPageToken: String(nextPageToken ?? ""),
    hasMore: hasMore === true,
  };
}

function toNote(note: Readonly<Record<string, unknown>>): TaskNoteJson {
  const texts = Object.entries(note).filter(([, value]) => typeof value === "string");
  const { payloadBytes } = note;
  return { ...Object.fromEntries(texts), ...(typeof payloadBytes === "number" ? { payloadBytes } : {}) };
}

/** Notes that are kept of one task; of one with more, the last ones. */
const maxNotes = 2_000;

/** What the agent's code did in a stretch of time. */
export interface Work {
  readonly name: string;
  readonly fromMs: number;
  /** Undefined: it goes on. */
  readonly toMs: number | undefined;
  /** The colour: a state's. */
  readonly tone: "working" | "completed" | "failed" | "canceled" | "input-required";
  /** Number of the last event before it. */
  readonly generation: number;
}

/** The notes in a task's log beside its events, of agents that have them: servers of a2a-connect that serve the inspector. */
export class TaskNotes {
  readonly #taskId: string;
  readonly #notes = signal<readonly TaskNoteJson[]>([]);

  constructor(taskId: string) {
    this.#taskId = taskId;
  }

  get notes(): ReadonlySignal<readonly TaskNoteJson[]> {
    return this.#notes;
  }

  /** Reads the notes, and later ones until the task is over, `signal` aborts, or the agent turns out to have none. */
  async follow(isOver: () => boolean, signal: AbortSignal): Promise<void> {
    for (let pageToken = "", pages = 1; !signal.aborted; pages += 1) {
      const wasOver = isOver();
      // A connection that is lost comes back while the task is at work.
      const page = await this.#read({ pageToken, pageSize: 1_000 }, signal).catch(() => ({}) as Page);
      if (page === undefined) return;
      const { notes = [], nextPageToken = pageToken, hasMore = false } = page;
      pageToken = nextPageToken;
      if (notes.length > 0) this.#notes.value = [...this.#notes.value, ...notes].slice(-maxNotes);
      if (hasMore && pages % maxPages > 0) continue;
      if (wasOver) return;
      await new Promise((resolve) => setTimeout(resolve, refreshMs));
    }
  }

  /** What the log has stored with a note. Undefined: the agent does not say it. */
  async payloadOf({ sequence = "0", generation = "0" }: TaskNoteJson): Promise<string | undefined> {
    for (let pageToken = "", pages = 0; pages < maxPages; pages += 1) {
      const page = await this.#read({ pageToken, includePayloads: true }, AbortSignal.timeout(10_000));
      const found = page?.notes?.find((each) => each.sequence === sequence && each.generation === generation);
      if (found !== undefined) return found.payload ?? "";
      if (page?.hasMore !== true) break;
      pageToken = page.nextPageToken ?? "";
    }
    return undefined;
  }

  /** Undefined where the agent has no notes, or shows them to others only. @throws TypeError when it cannot be reached */
  async #read(request: object, signal: AbortSignal): Promise<Page | undefined> {
    const base = cardSource.replace(/\.well-known\/agent-card\.json$/, "");
    const response = await pageFetch(`${base}a2aconnect.notes.v1.TaskNotesService/ListTaskNotes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ taskId: this.#taskId, ...request }),
      signal,
    });
    if (response.ok) {
      const bytes = await readAtMost(chunksOf(response.body), maxPageBytes);
      return bytes === undefined ? undefined : toPage(JSON.parse(new TextDecoder().decode(bytes)));
    }
    if (response.status === 503) throw new TypeError("the agent is starting or stopping");
    return undefined;
  }
}

/** When a note was written, in milliseconds since 1970; NaN in older logs. */
export function timeOf({ recordedAt = "" }: TaskNoteJson): number {
  return Date.parse(recordedAt);
}

/** `TASK_NOTE_KIND_RESULT` as `result`. */
export function kindOf({ kind = "TASK_NOTE_KIND_UNSPECIFIED" }: TaskNoteJson): string {
  return String(kind).slice("TASK_NOTE_KIND_".length).toLowerCase().replaceAll("_", " ");
}

/** The work that notes and states tell of, by kinds; kinds without any are left out. */
export function toLanes(
  notes: readonly TaskNoteJson[],
  segments: readonly Segment[],
): ReadonlyMap<string, readonly Work[]> {
  const runs: Work[] = [];
  const steps: Work[] = [];
  const sleeps: Work[] = [];
  const begin = (fromMs: number, name: string, generation: number): void => {
    const before = runs.pop();
    if (before !== undefined) runs.push({ ...before, toMs: fromMs });
    runs.push({ name, fromMs, toMs: undefined, tone: "working", generation });
  };
  const [first] = segments;
  if (first !== undefined) begin(first.fromMs, "began", 0);
  for (const note of notes) {
    const atMs = timeOf(note);
    const { name = "", resumedAt, until } = note;
    const generation = Number(note.generation ?? 0);
    const kind = kindOf(note);
    if (Number.isNaN(atMs)) continue;
    if (resumedAt !== undefined) begin(Date.parse(resumedAt), "began again from the log", generation);
    if (kind === "turn") begin(atMs, "a further turn", generation);
    if (kind === "restarted") begin(atMs, "the turn began again", generation);
    if (note.elapsed !== undefined) {
      const tone = kind === "result" ? "completed" : "failed";
      const words = kind === "retry" ? `${name}, tried again` : name;
      const fromMs = atMs - Number.parseFloat(note.elapsed) * 1_000;
      steps.push({ name: words, fromMs, toMs: atMs, tone, generation });
    }
    if (kind === "sleep") {
      sleeps.push({ name, fromMs: atMs, toMs: Date.parse(until ?? ""), tone: "canceled", generation });
    } else if (kind === "over" || kind === "aborted") {
      const at = sleeps.findIndex((each) => each.name === name);
      const slept = sleeps[at];
      if (slept !== undefined) sleeps[at] = { ...slept, toMs: atMs };
    }
  }
  const questions = segments.flatMap(({ state, fromMs, index }, at): Work[] =>
    isInterrupted(state)
      ? [
          {
            name: "waited for its caller",
            fromMs,
            toMs: segments[at + 1]?.fromMs,
            tone: "input-required",
            generation: index + 1,
          },
        ]
      : [],
  );
  const lanes = { Runs: runs, Steps: steps, Sleeps: sleeps, Questions: questions };
  return new Map(Object.entries(lanes).filter(([, works]) => works.length > 0));
}
