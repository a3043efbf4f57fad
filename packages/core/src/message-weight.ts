import type { Message } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { TextSizes } from "./text-size.ts";

/** The weight of a value that is not text. */
const valueBytes = 8;

/** What an element of a list weighs besides: its tag and its length. */
const placeBytes = 2;

/** The names of a message's fields are no longer, and are in no binary encoding. JSON may have a name as a message has. */
const maxFieldName = 64;

/** Weight from which a message is large where nothing else is said. */
export const largeWeight: number = 256 * 1024;

/**
 * Whether a message weighs more than `limit`, about in bytes of its binary encoding. It visits no more of the message
 * than it needs.
 */
export function isLarge(message: Message, limit: number = largeWeight): boolean {
  return weigh(message, limit) > limit;
}

interface KnownWeight {
  readonly weight: number;
  /** false: a lower bound, because not all of the object was visited. */
  readonly isExact: boolean;
}

/** Weights found before. To visit one member of an object with many names costs as much as to visit all. */
const knownWeights = new WeakMap<object, KnownWeight>();

/** Keeps the size of a message's binary encoding as its weight. The message must not change any more. */
export function keepWeight(message: Message, bytes: number): void {
  knownWeights.set(message, { weight: bytes, isExact: true });
}

/** The same for a message of which not all has been read yet, or which has more fields than were kept. */
export function keepLeastWeight(message: Message, bytes: number): void {
  knownWeights.set(message, { weight: bytes, isExact: false });
}

/** @returns more than `limit` when the value weighs more: the weight of what was visited until then */
function weigh(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return valueBytes;
  if (value instanceof Uint8Array) return value.length;
  const known = knownWeights.get(value);
  if (known !== undefined && (known.isExact || known.weight > limit)) return known.weight;
  const weight = weighInside(value, limit);
  if (weight > limit) knownWeights.set(value, { weight, isExact: false });
  return weight;
}

function weighInside(value: object, limit: number): number {
  let weight = valueBytes;
  if (Array.isArray(value)) {
    for (const element of value) {
      weight += placeBytes + weigh(element, limit - weight);
      if (weight > limit) return weight;
    }
    return weight;
  }
  const isMessage = typeof (value as Partial<Message>).$typeName === "string";
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]; // any object's own members
    if (!isMessage || name.length > maxFieldName) weight += name.length;
    weight +=
      name === "metadata" && typeof member === "object" && member !== null
        ? weighMetadata(member, limit - weight)
        : weigh(member, limit - weight);
    if (weight > limit) return weight;
  }
  return weight;
}

/** Metadata is weighed again as memory, and to visit 60,000 names takes 10 ms: what is found once is kept. */
function weighMetadata(metadata: object, limit: number): number {
  return weighSize(sizeOf(metadata, same, limit));
}

function weighSize({ values, texts }: Pick<JsonSize, "values" | "texts">): number {
  return values * valueBytes + texts;
}

/** How many values there are in metadata or in a data part, and the length of their texts and names. */
export interface JsonSize {
  /** An object or a list counts as three: empty it takes 150 to 350 bytes, and a number or a short text 90 to 110. */
  readonly values: number;
  readonly texts: number;
  /** What texts take in memory beyond their bytes in UTF-8. */
  readonly wide: number;
}

/** Smaller sizes are found anew each time. A garbage collector looks at each known one: a million of them take it seconds. */
const minKnownWeight = 512;

/** The sizes that were found, of what takes long to look at. Messages do not change. */
const knownSizes = new WeakMap<object, JsonSize>();

/** The size of metadata. */
export function sizeOfJson(json: object): JsonSize {
  return sizeOf(json, same);
}

/** The size of what a data part holds. */
export function sizeOfValue(value: Value): JsonSize {
  return sizeOf(value, openValue);
}

/**
 * @param open makes JSON of an element, whose own elements it need not open
 * @param limit of the weight: of JSON that weighs more it is the size of what was visited until then
 */
function sizeOf(
  json: object,
  open: (element: unknown) => unknown,
  limit: number = Number.POSITIVE_INFINITY,
): JsonSize {
  const known = knownSizes.get(json);
  if (known !== undefined) return known;
  const size = { values: 0, texts: 0, wide: 0 };
  addJson(json, open, { size, limit, texts: new TextSizes() });
  const weight = weighSize(size);
  if (weight >= minKnownWeight && weight <= limit) knownSizes.set(json, size);
  return size;
}

interface SizeSearch {
  readonly size: { values: number; texts: number; wide: number };
  readonly limit: number;
  readonly texts: TextSizes;
}

function addJson(element: unknown, open: (element: unknown) => unknown, search: SizeSearch): void {
  const { size, limit } = search;
  size.values += 1;
  const json = open(element);
  if (typeof json === "string") {
    addText(json, search);
  } else if (Array.isArray(json)) {
    size.values += containerValues;
    for (const item of json) {
      addJson(item, open, search);
      if (weighSize(size) > limit) return;
    }
  } else if (typeof json === "object" && json !== null) {
    size.values += containerValues;
    for (const name in json) {
      addText(name, search);
      addJson((json as Readonly<Record<string, unknown>>)[name], open, search);
      if (weighSize(size) > limit) return;
    }
  }
}

function addText(text: string, { size, texts }: SizeSearch): void {
  const bytes = texts.bytesOf(text);
  size.texts += bytes;
  if (bytes > text.length) size.wide += texts.beyondUtf8(text);
}

/** What an object or a list counts besides one. */
export const containerValues: number = 2;

const same = (json: unknown): unknown => json;

/** A Value as JSON whose elements are still Values. One without a kind, which cannot be encoded, counts as empty. */
function openValue(value: unknown): unknown {
  const { kind } = value as Value; // what a data part holds, and what is in it
  if (kind.case === "structValue") return kind.value.fields;
  return kind.case === "listValue" ? kind.value.values : kind.value;
}
