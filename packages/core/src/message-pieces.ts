import { TaskSchema } from "@a2a-connect/proto";
import {
  clearField,
  create,
  type DescField,
  type DescMessage,
  isMessage,
  type JsonObject,
  type Message,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Value } from "@bufbuild/protobuf/wkt";
import { formatBase64InPieces } from "./base64.ts";
import { encodeMessage, encodePieces } from "./binary/encode.ts";
import { asksForArtifacts, formatMessage, formatResponse } from "./format-json.ts";
import type { RpcMethod } from "./methods.ts";
import { formatJsonInPieces, formatStringInPieces, formatValueInPieces } from "./value-text.ts";

/*
 * Large messages are formatted and encoded piece by piece, so that others have their turn in between and no
 * second copy of all of it is ever in memory. A piece is a message below the large one that is not large itself, or of a
 * long text or long bytes; the other values of one Struct or Value are encoded together.
 */

/** About the weight of one piece: bytes of an encoding, or characters. */
const pieceBytes = 64 * 1024;

/** The weight of a value that is not text. */
const valueBytes = 8;

/**
 * Whether a message weighs more than `limit`, about in bytes of its binary encoding. It visits no more of the message
 * than it needs.
 */
export function isLarge(message: Message, limit: number = 4 * pieceBytes): boolean {
  return weigh(message, limit) > limit;
}

/**
 * A lower bound of an object's weight, as found before. To visit one member of an object with many names costs as much
 * as to visit all.
 */
const knownWeights = new WeakMap<object, number>();

/** @returns more than `limit` when the value weighs more: the weight of what was visited until then */
function weigh(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return valueBytes;
  if (value instanceof Uint8Array) return value.length;
  const known = knownWeights.get(value);
  if (known !== undefined && known > limit) return known;
  const weight = weighInside(value, limit);
  if (weight > limit) knownWeights.set(value, weight);
  return weight;
}

function weighInside(value: object, limit: number): number {
  let weight = valueBytes;
  if (Array.isArray(value)) {
    for (const element of value) {
      weight += weigh(element, limit - weight);
      if (weight > limit) return weight;
    }
    return weight;
  }
  for (const name in value) {
    weight += weigh((value as Record<string, unknown>)[name], limit - weight); // any object's own members
    if (weight > limit) return weight;
  }
  return weight;
}

/**
 * A field whose messages are pieces of their own. Struct, Value and the like are not: protobuf-es keeps them as JSON.
 */
function isDivided(field: DescField): field is DescField & { readonly message: DescMessage } {
  return (
    (field.fieldKind === "message" || (field.fieldKind === "list" && field.listKind === "message")) &&
    !field.message.typeName.startsWith("google.")
  );
}

/** The messages in a field; none when it is not set. */
function readField(message: Message, { fieldKind, localName, oneof }: DescField): readonly Message[] {
  // protobuf-es's form of fields: by name; those of a oneof as `case` and `value`.
  const record = message as unknown as Record<string, unknown>;
  if (oneof !== undefined) {
    const chosen = record[oneof.localName] as { readonly case?: string; readonly value?: Message };
    return chosen.case === localName && chosen.value !== undefined ? [chosen.value] : [];
  }
  const value = record[localName];
  if (fieldKind === "list") return value as readonly Message[];
  return value === undefined ? [] : [value as Message];
}

function addToField(message: Message, { fieldKind, localName, oneof }: DescField, value: Message): void {
  const record = message as unknown as Record<string, unknown>; // as `readField`
  if (oneof !== undefined) record[oneof.localName] = { case: localName, value };
  else if (fieldKind === "list") (record[localName] as Message[]).push(value);
  else record[localName] = value;
}

/** A shallow copy without the divided fields, and the divided fields that are set. */
function divide(
  desc: DescMessage,
  message: Message,
): { readonly rest: Message; readonly fields: readonly (DescField & { readonly message: DescMessage })[] } {
  const rest = { ...message };
  const fields = desc.fields.filter(isDivided).filter((field) => readField(message, field).length > 0);
  for (const field of fields) clearField(rest, field);
  return { rest, fields };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const writer = new BinaryWriter();
  for (const part of parts) writer.raw(part);
  return writer.finish();
}

/** Groups the small messages of a list: 16 that together weigh no more than a piece. */
function* group(messages: readonly Message[], { fieldKind }: DescField): Generator<readonly Message[]> {
  let small: Message[] = [];
  for (const each of messages) {
    if (fieldKind === "list" && !isLarge(each, pieceBytes / 16)) {
      small.push(each);
      if (small.length < 16) continue;
      yield small;
      small = [];
    } else {
      if (small.length > 0) yield small;
      small = [];
      yield [each];
    }
  }
  if (small.length > 0) yield small;
}

/** Encodes a large message. Each step yields the bytes that it has encoded; the return value is all pieces. */
export function* encodeInSteps(
  desc: DescMessage,
  message: Message,
): Generator<number, readonly Uint8Array[]> {
  if (!isLarge(message, pieceBytes)) {
    const bytes = encodeMessage(desc, message);
    yield bytes.length;
    return [bytes];
  }
  const { rest, fields } = divide(desc, message);
  const whole = new PieceWriter();
  for (const piece of yield* encodePieces(desc, rest)) whole.add(piece);
  for (const field of fields) {
    for (const together of group(readField(message, field), field)) {
      const [first] = together;
      if (together.length === 1 && first !== undefined) {
        const parts = yield* encodeInSteps(field.message, first);
        const header = new BinaryWriter().tag(field.number, WireType.LengthDelimited);
        whole.add(header.uint32(byteLength(parts)).finish());
        for (const part of parts) whole.add(part);
        continue;
      }
      const some: Message = create(desc); // encoded with their tags and lengths
      for (const each of together) addToField(some, field, each);
      const bytes = encodeMessage(desc, some);
      whole.add(bytes);
      yield bytes.length;
    }
  }
  return whole.finish();
}

/** Bytes of all pieces. */
export function byteLength(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Joins small pieces, and keeps large ones as they are. */
class PieceWriter {
  readonly #pieces: Uint8Array[] = [];
  #small: Uint8Array[] = [];
  #smallBytes = 0;

  add(bytes: Uint8Array): void {
    if (bytes.length >= pieceBytes) {
      this.#flush();
      this.#pieces.push(bytes);
      return;
    }
    this.#small.push(bytes);
    this.#smallBytes += bytes.length;
    if (this.#smallBytes >= pieceBytes) this.#flush();
  }

  finish(): readonly Uint8Array[] {
    this.#flush();
    return this.#pieces;
  }

  #flush(): void {
    if (this.#smallBytes > 0) this.#pieces.push(joined(this.#small));
    this.#small = [];
    this.#smallBytes = 0;
  }
}

/** The JSON text of a large message in pieces of some 64 KiB. Joined, they are the text of `formatMessage`. */
export function* formatInPieces(desc: DescMessage, message: Message): Generator<string, void> {
  yield* joinTexts(formatTexts(desc, message, false));
}

/**
 * The JSON text of the answer to a request, in the form of `formatResponse`. A large one comes in pieces, which are
 * made while they are read.
 */
export function formatAnswer(
  method: RpcMethod,
  request: Message,
  response: Message,
): string | Iterable<string> {
  return isLarge(response)
    ? joinTexts(formatTexts(method.desc.output, response, asksForArtifacts(request)))
    : JSON.stringify(formatResponse(method, request, response));
}

const texts = new WeakMap<Message, string>();

/**
 * The JSON text of a message, formatted once for as long as the message is reachable. Use it for messages that no
 * longer change: an event for many readers is encoded once. A large message comes in pieces, which are made while they
 * are read, and not kept.
 */
export function formatOnce(desc: DescMessage, message: Message): string | Iterable<string> {
  const known = texts.get(message);
  if (known !== undefined) return known;
  if (isLarge(message)) return formatInPieces(desc, message);
  const text = JSON.stringify(formatMessage(desc, message));
  texts.set(message, text);
  return text;
}

function* joinTexts(texts: Iterable<string>): Generator<string, void> {
  let joined = "";
  for (const text of texts) {
    joined += text;
    if (joined.length >= pieceBytes) {
      yield joined;
      joined = "";
    }
  }
  yield joined;
}

/** @param withArtifacts whether tasks without artifacts say so */
function* formatTexts(desc: DescMessage, message: Message, withArtifacts: boolean): Generator<string, void> {
  const large = isLarge(message, pieceBytes);
  const { rest, fields } = large ? divide(desc, message) : { rest: message, fields: [] };
  const long = new Map<DescField, Iterable<string>>();
  for (const field of large ? desc.fields : []) {
    const texts = formatLong(message, field);
    if (texts !== undefined) long.set(field, texts);
  }
  for (const field of long.keys()) clearField(rest, field);
  const json = formatMessage(desc, rest) as JsonObject; // messages of A2A are JSON objects
  for (const { jsonName } of [...fields, ...long.keys()]) delete json[jsonName];
  if (withArtifacts && isMessage(message, TaskSchema) && message.artifacts.length === 0)
    json["artifacts"] = [];
  if (!large) {
    yield JSON.stringify(json);
    return;
  }
  let before = "{";
  for (const [name, value] of Object.entries(json)) {
    yield `${before}${JSON.stringify(name)}:`;
    yield* formatJsonInPieces(value, pieceBytes); // a list of texts is a field of its own, however long they are
    before = ",";
  }
  for (const field of fields) {
    const isList = field.fieldKind === "list";
    yield `${before}${JSON.stringify(field.jsonName)}:${isList ? "[" : ""}`;
    before = "";
    for (const each of readField(message, field)) {
      yield before;
      yield* formatTexts(field.message, each, withArtifacts);
      before = ",";
    }
    yield isList ? "]" : "";
    before = ",";
  }
  for (const [{ jsonName }, texts] of long) {
    yield `${before}${JSON.stringify(jsonName)}:`;
    yield* texts;
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}

/** The JSON text of a field's long value: a text, bytes, or JSON of the caller's own; undefined for all others. */
function formatLong(message: Message, field: DescField): Iterable<string> | undefined {
  const { fieldKind, localName, oneof } = field;
  const record = message as unknown as Record<string, unknown>; // as `readField`
  const chosen = oneof && (record[oneof.localName] as { readonly case?: string; readonly value?: unknown });
  const value =
    oneof === undefined ? record[localName] : chosen?.case === localName ? chosen.value : undefined;
  if (fieldKind === "scalar") {
    if (typeof value === "string" && value.length > pieceBytes)
      return formatStringInPieces(value, pieceBytes);
    return value instanceof Uint8Array && value.length > pieceBytes ? formatBytes(value) : undefined;
  }
  if (fieldKind !== "message" || value === undefined || weigh(value, pieceBytes) <= pieceBytes) {
    return undefined;
  }
  switch (field.message.typeName) {
    case "google.protobuf.Value":
      return formatValueInPieces(value as Value, pieceBytes); // by the type's name
    case "google.protobuf.Struct":
      return formatJsonInPieces(value as JsonObject, pieceBytes); // protobuf-es keeps it as the JSON object itself
    default:
      return undefined;
  }
}

function* formatBytes(value: Uint8Array): Generator<string, void> {
  yield '"';
  yield* formatBase64InPieces(value);
  yield '"';
}
