import { TaskSchema } from "@a2a-connect/proto";
import type { DescField, DescMessage, JsonObject, Message } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { formatBase64InPieces } from "./base64.ts";
import {
  asksForArtifacts,
  type FieldWriter,
  fieldWriters,
  formatMessage,
  formatResponse,
} from "./format-json.ts";
import { isLarge } from "./message-weight.ts";
import type { RpcMethod } from "./methods.ts";
import { formatJsonInPieces, formatValueInPieces, LazyList, type LazyObject } from "./value-text.ts";

/*
 * Large messages are formatted piece by piece, so that others have their turn in between and no second copy of all of
 * it is ever in memory.
 */

/** About the length of one piece, in characters. */
const pieceLength = 64 * 1024;

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

/**
 * A message as JSON to be converted while it is written: the same as {@link formatMessage}, but for lists of messages, which
 * are lazy, at any depth.
 */
export function formatLazily(desc: DescMessage, message: Message): LazyObject {
  const json: LazyObject = {};
  for (const { field, find, write } of fieldWriters(desc)) {
    const value = find(message);
    if (value !== undefined) {
      json[field.jsonName] = formatMessages(field, value) ?? write(value);
    }
  }
  return json;
}

/** @returns undefined for a field without messages, and for messages whose JSON has another form than theirs */
function formatMessages(
  { fieldKind, message: desc }: DescField,
  value: unknown,
): LazyList | LazyObject | undefined {
  if (desc === undefined || fieldKind === "map" || desc.file.proto.package === "google.protobuf") {
    return undefined;
  }
  if (fieldKind !== "list") {
    return formatLazily(desc, value as Message); // by its type
  }
  const list = value as readonly Message[]; // by its type
  return new LazyList(list.length, (index) => formatLazily(desc, list[index] as Message)); // within its length
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
    if (joined.length >= pieceLength) {
      yield joined;
      joined = "";
    }
  }
  yield joined;
}

/** @param withArtifacts whether tasks without artifacts say so */
function* formatTexts(desc: DescMessage, message: Message, withArtifacts: boolean): Generator<string, void> {
  if (desc.typeName === "google.protobuf.Value") {
    yield* formatValueInPieces(message as Value, pieceLength); // by the type's name
    return;
  }
  if (desc.typeName === "google.protobuf.Struct") {
    yield* formatJsonInPieces(message as unknown as JsonObject, pieceLength); // protobuf-es keeps it as the JSON object itself
    return;
  }
  if (!isLarge(message, pieceLength)) {
    const json = formatMessage(desc, message) as JsonObject; // messages of A2A are JSON objects
    if (withArtifacts && desc === TaskSchema) json["artifacts"] ??= [];
    yield JSON.stringify(json);
    return;
  }
  let before = "{";
  for (const writer of fieldWriters(desc)) {
    const none = withArtifacts && writer.field === TaskSchema.field.artifacts ? [] : undefined;
    const value = writer.find(message) ?? none;
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(writer.field.jsonName)}:`;
    yield* formatField(writer, value, withArtifacts);
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}

function* formatField(
  { field, write }: FieldWriter,
  value: unknown,
  withArtifacts: boolean,
): Generator<string, void> {
  const { fieldKind, message: desc } = field;
  if (value instanceof Uint8Array) {
    yield '"';
    yield* formatBase64InPieces(value);
    yield '"';
  } else if (fieldKind === "message") {
    yield* formatTexts(field.message, value as Message, withArtifacts); // by its type
  } else if (fieldKind === "list" && desc !== undefined) {
    let before = "[";
    for (const each of value as readonly Message[]) {
      yield before;
      yield* formatTexts(desc, each, withArtifacts);
      before = ",";
    }
    yield before === "[" ? "[]" : "]";
  } else {
    yield* formatJsonInPieces(write(value), pieceLength); // a list of texts is one field, however long they are
  }
}
