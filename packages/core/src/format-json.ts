import { ListTasksRequestSchema } from "@a2a-connect/proto";
import {
  create,
  type DescField,
  type DescMessage,
  isMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import type { RpcMethod } from "./methods.ts";
import { isRequiredField } from "./required-fields.ts";

/**
 * A message as ProtoJSON by the rules of requirement H-8: camelCase names, REQUIRED fields also at their default,
 * `optional` and message fields iff set, everything else only when it is not the default. Struct and Value contents
 * are left as they are (H-13).
 */
export function formatMessage<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): JsonValue {
  const json = toJson<DescMessage>(desc, message);
  findFiller(desc)?.(json as JsonObject); // only types that are JSON objects have a filler
  return json;
}

/**
 * The answer to a request as JSON: {@link formatMessage}, and `artifacts: []` in listed tasks without artifacts when
 * the request asked for them (requirement A-46).
 */
export function formatResponse(method: RpcMethod, request: Message, response: Message): JsonValue {
  const json = formatMessage(method.desc.output, response);
  if (asksForArtifacts(request)) {
    for (const task of (json as { tasks: JsonObject[] }).tasks) {
      // tasks is REQUIRED and so always emitted
      task["artifacts"] ??= [];
    }
  }
  return json;
}

/** Whether a list of tasks was asked for with their artifacts. */
export function asksForArtifacts(request: Message): boolean {
  return isMessage(request, ListTasksRequestSchema) && request.includeArtifacts === true;
}

const texts = new WeakMap<Message, string>();

/**
 * The JSON text of a message, formatted once for as long as the message is reachable. For messages that no longer
 * change: an event that goes to many readers is encoded once.
 */
export function formatOnce<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): string {
  const known = texts.get(message);
  if (known !== undefined) {
    return known;
  }
  const text = JSON.stringify(formatMessage(desc, message));
  texts.set(message, text);
  return text;
}

/** Adds the REQUIRED fields that toJson left out to the JSON of a message, in place. */
type Filler = (json: JsonObject) => void;

const fillers = new WeakMap<DescMessage, Filler | undefined>();

/** The filler of a message type, compiled on first use; undefined when toJson leaves out nothing below it. */
function findFiller(desc: DescMessage): Filler | undefined {
  if (fillers.has(desc)) {
    return fillers.get(desc);
  }
  const filler = reachesRequiredField(desc, new Set()) ? compileFiller(desc) : undefined;
  fillers.set(desc, filler);
  return filler;
}

function compileFiller(desc: DescMessage): Filler {
  const steps: Filler[] = [];
  const defaults = defaultsOf(desc);
  const filler: Filler = (json) => {
    for (const step of steps) {
      step(json);
    }
  };
  fillers.set(desc, filler); // before the fields, so that recursive types end
  for (const field of desc.fields) {
    const fill = field.message === undefined ? undefined : findFiller(field.message);
    if (fill !== undefined) {
      steps.push(descend(field, fill));
    }
    const value = isRequiredField(field) ? defaults[field.jsonName] : undefined;
    if (value !== undefined) {
      const fresh = emptyLike(value);
      steps.push((json) => {
        json[field.jsonName] ??= fresh();
      });
    }
  }
  return filler;
}

/** Makes the default anew for each message: an empty list or map is somebody's own. */
function emptyLike(value: JsonValue): () => JsonValue {
  if (Array.isArray(value)) {
    return () => [];
  }
  return typeof value === "object" ? () => ({}) : () => value;
}

/** Fill the messages in one field. */
function descend({ fieldKind, jsonName }: DescField, fill: Filler): Filler {
  // The casts restate what toJson wrote: an object per message, an array per list, an object per map.
  switch (fieldKind) {
    case "list":
      return (json) => {
        for (const element of (json[jsonName] ?? []) as JsonObject[]) {
          fill(element);
        }
      };
    case "map":
      return (json) => {
        for (const element of Object.values((json[jsonName] ?? {}) as Record<string, JsonObject>)) {
          fill(element);
        }
      };
    default:
      return (json) => {
        const value = json[jsonName];
        if (value !== undefined) {
          fill(value as JsonObject);
        }
      };
  }
}

/** JSON of the fields that have a default, by JSON name; those that are emitted iff set are not among them (H-8). */
function defaultsOf(desc: DescMessage): JsonObject {
  // Only types that are JSON objects have a filler.
  return toJson(desc, create(desc), { alwaysEmitImplicit: true }) as JsonObject;
}

function reachesRequiredField(desc: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(desc)) {
    return false;
  }
  seen.add(desc);
  return desc.fields.some(
    (field) =>
      isRequiredField(field) || (field.message !== undefined && reachesRequiredField(field.message, seen)),
  );
}
