import { ListTasksResponseSchema, type Task, TaskSchema } from "@a2a-connect/proto";
import {
  type DescField,
  type DescMessage,
  isMessage,
  type JsonObject,
  type Message,
} from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { formatBase64InPieces } from "../base64.ts";
import { KeptTexts } from "../kept-texts.ts";
import { isLarge } from "../message-weight.ts";
import type { RpcMethod } from "../methods.ts";
import { asksForArtifacts, type FieldWriter, fieldWriters, formatMessage } from "./format-json.ts";
import { formatJsonInPieces, formatValueInPieces, LazyList, type LazyObject } from "./value-text.ts";

/*
 * Large messages are formatted piece by piece, so that others have their turn in between and no second copy of all of
 * it is ever in memory.
 */

/** About the length of one piece, in characters. */
const pieceLength = 64 * 1024;

/** Characters from which a page of tasks is large. */
const largeText = 256 * 1024;

/** The JSON text of a large message in pieces of some 64 KiB. Joined, they are the text of `formatMessage`. */
export function* formatInPieces(desc: DescMessage, message: Message): Generator<string, void> {
  yield* joinTexts(formatTexts(desc, message));
}

/**
 * The JSON text of the answer to a request, in the form of `formatResponse`. A large one comes in pieces, which are
 * made while they are read. A task in a page is formatted once for as long as it is reachable.
 */
export function formatAnswer(
  method: RpcMethod,
  request: Message,
  response: Message,
): string | Iterable<string> {
  const { output } = method.desc;
  if (output === ListTasksResponseSchema) {
    return joinUpTo(largeText, formatFields(output, response, asksForArtifacts(request)));
  }
  return isLarge(response)
    ? formatInPieces(output, response)
    : JSON.stringify(formatMessage(output, response));
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

const texts = new KeptTexts<string>();

/**
 * The JSON text of a message, which is kept for a while (`KeptTexts`). Use it for messages that no
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

/** One text when that has at most `limit` characters, else all of them in pieces. */
function joinUpTo(limit: number, texts: Generator<string, void>): string | Iterable<string> {
  let joined = "";
  for (let next = texts.next(); next.done !== true; next = texts.next()) {
    joined += next.value;
    if (joined.length > limit) return joinTexts(startingWith(joined, texts));
  }
  return joined;
}

function* startingWith(first: string, rest: Iterable<string>): Generator<string, void> {
  yield first;
  yield* rest;
}

function* formatTexts(desc: DescMessage, message: Message): Generator<string, void> {
  if (desc.typeName === "google.protobuf.Value") {
    yield* formatValueInPieces(message as Value, pieceLength); // by the type's name
  } else if (desc.typeName === "google.protobuf.Struct") {
    yield* formatJsonInPieces(message as unknown as JsonObject, pieceLength); // protobuf-es keeps it as the JSON object itself
  } else if (isLarge(message, pieceLength)) {
    yield* formatFields(desc, message, false);
  } else {
    yield JSON.stringify(formatMessage(desc, message));
  }
}

/** @param withArtifacts whether tasks without artifacts say so */
function* formatFields(desc: DescMessage, message: Message, withArtifacts: boolean): Generator<string, void> {
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

function* formatListedTask(task: Task, withArtifacts: boolean): Generator<string, void> {
  const text = formatOnce(TaskSchema, task);
  if (typeof text !== "string") yield* formatFields(TaskSchema, task, withArtifacts);
  else yield withArtifacts && task.artifacts.length === 0 ? `${text.slice(0, -1)},"artifacts":[]}` : text;
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
    yield* formatTexts(field.message, value as Message); // by its type
  } else if (fieldKind === "list" && desc !== undefined) {
    let before = "[";
    for (const each of value as readonly Message[]) {
      yield before;
      yield* isMessage(each, TaskSchema) ? formatListedTask(each, withArtifacts) : formatTexts(desc, each);
      before = ",";
    }
    yield before === "[" ? "[]" : "]";
  } else {
    yield* formatJsonInPieces(write(value), pieceLength); // a list of texts is one field, however long they are
  }
}
