import { joinBytes } from "@a2a-connect/core/internal";
import type { PlacedEntry } from "./log-page.ts";
import type { EntryKind, LogEntry, StoredTask } from "./task-store.ts";

/** Consecutive entries of a log, as a store keeps them in one row: what a commit appends is one segment, or a few. */
export interface Segment {
  /** Of its last entry. */
  readonly sequence: number;
  /** Generation of the log at its end. */
  readonly generation: number;
  /** The kinds of its entries (`kindBits`), so that a query passes a segment that has nothing for it. */
  readonly kinds: number;
  /** Kind and length of each entry. */
  readonly layout: Uint8Array;
  /** The payloads of all entries but artifacts, one after the other. */
  readonly head: Uint8Array;
  /** The payloads of the artifacts. They lie apart, so that a list need not read them. */
  readonly artifacts: Uint8Array | undefined;
}

/** Kinds, by their number in a layout. The order is part of the format: new kinds are added only at the end. */
const kindNames = [
  "task",
  "status",
  "artifact",
  "input",
  "command",
  "journal",
] as const satisfies readonly EntryKind[];

/** A layout has one number for each entry: its length times this, plus its kind. */
const lengthUnit = 8;

/** Bytes of payloads after which a segment takes no further entry, so that a page reads little that it does not need. */
const maxSegmentBytes = 64 * 1024;

const artifactKind = kindNames.indexOf("artifact");
const lastEventKind = artifactKind;
const nothing = new Uint8Array(0);

/** Bytes of the payloads and the snapshot that a commit stores, or that were read of a task. */
export function storedBytes({ snapshot, entries }: Pick<StoredTask, "snapshot" | "entries">): number {
  let bytes = (snapshot?.head.byteLength ?? 0) + (snapshot?.artifacts?.byteLength ?? 0);
  for (const { payload } of entries) bytes += payload.byteLength;
  return bytes;
}

/** These kinds in a segment, one bit each. */
export function kindBits(kinds: readonly EntryKind[]): number {
  return kinds.reduce((bits, kind) => bits | (1 << kindNames.indexOf(kind)), 0);
}

/** Events have the lowest bits: a segment with greater ones has entries that are none. */
export const eventBits: number = kindBits(["task", "status", "artifact"]);

/**
 * Divides entries into those of one segment each.
 *
 * @param isApart whether an entry has a segment of its own
 */
export function* divideEntries(
  entries: Iterable<LogEntry>,
  isApart: (entry: LogEntry) => boolean,
): Iterable<readonly LogEntry[]> {
  let part: LogEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (part.length > 0 && (bytes > maxSegmentBytes || isApart(entry))) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(entry);
    bytes += isApart(entry) ? Number.POSITIVE_INFINITY : entry.payload.byteLength;
  }
  if (part.length > 0) yield part;
}

/** @param generation of the log before the entries; there is at least one */
export function packSegment(entries: readonly LogEntry[], generation: number): Segment {
  const layout: number[] = [];
  const head: Uint8Array[] = [];
  const artifacts: Uint8Array[] = [];
  let [sequence, reached, kinds] = [0, generation, 0];
  for (const entry of entries) {
    const kind = kindNames.indexOf(entry.kind);
    ({ sequence } = entry);
    reached = entry.generation ?? reached;
    kinds |= 1 << kind;
    writeVarint(layout, entry.payload.byteLength * lengthUnit + kind);
    (kind === artifactKind ? artifacts : head).push(entry.payload);
  }
  return {
    sequence,
    generation: reached,
    kinds,
    layout: new Uint8Array(layout),
    head: joinBytes(head),
    artifacts: artifacts.length === 0 ? undefined : joinBytes(artifacts),
  };
}

/**
 * The entries of these kinds in a segment, oldest first.
 *
 * @param segment need not have the payloads of other kinds
 * @throws RangeError when it is damaged
 */
export function* openSegment(segment: Segment, kinds: number): Iterable<PlacedEntry> {
  const { head, artifacts = nothing } = segment;
  let [headEnd, artifactsEnd] = [0, 0];
  for (const { sequence, reached, kind, bytes } of placesOf(segment)) {
    const isArtifact = kind === artifactKind;
    const begin = isArtifact ? artifactsEnd : headEnd;
    if (isArtifact) artifactsEnd += bytes;
    else headEnd += bytes;
    if ((kinds & (1 << kind)) === 0) continue;
    const name = kindNames[kind];
    const payload = (isArtifact ? artifacts : head).subarray(begin, begin + bytes);
    if (name === undefined) throw new RangeError(`entry ${sequence} has the unknown kind ${kind}`);
    if (payload.length !== bytes) throw new RangeError(`the payload of entry ${sequence} is cut off`);
    const generation = kind <= lastEventKind ? reached : undefined;
    yield { entry: { sequence, generation, kind: name, payload }, reached };
  }
}

/** Bytes of the payload of the event with this generation, if it is in the segment. */
export function findEventBytes(
  segment: Pick<Segment, "sequence" | "generation" | "layout">,
  generation: number,
): number | undefined {
  for (const { kind, reached, bytes } of placesOf(segment)) {
    if (kind <= lastEventKind && reached === generation) return bytes;
  }
  return undefined;
}

interface Place {
  readonly sequence: number;
  /** See `PlacedEntry`. */
  readonly reached: number;
  readonly kind: number;
  readonly bytes: number;
}

function* placesOf({
  sequence,
  generation,
  layout,
}: Pick<Segment, "sequence" | "generation" | "layout">): Iterable<Place> {
  const numbers = readVarints(layout);
  const events = numbers.filter((number) => number % lengthUnit <= lastEventKind).length;
  let [last, reached] = [sequence - numbers.length, generation - events];
  for (const number of numbers) {
    const kind = number % lengthUnit;
    last += 1;
    if (kind <= lastEventKind) reached += 1;
    yield { sequence: last, reached, kind, bytes: (number - kind) / lengthUnit };
  }
}

function readVarints(bytes: Uint8Array): readonly number[] {
  const numbers: number[] = [];
  let [number, unit] = [0, 1];
  for (const byte of bytes) {
    number += (byte % 128) * unit;
    unit *= 128;
    if (byte >= 128) continue;
    numbers.push(number);
    [number, unit] = [0, 1];
  }
  return numbers;
}

function writeVarint(out: number[], number: number): void {
  let rest = number;
  for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128);
  out.push(rest);
}
