import {
  type FieldWalk,
  isObject,
  mergeMembers,
  report,
  reportAt,
  toTable,
} from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Form, type Members, reportMissing } from "./form.ts";

/**
 * Where a part of an older version has the content of one of 1.0. `json` is JSON-RPC's part with a `kind`; `proto` is the
 * JSON of `a2a.v1.Part`.
 */
const places = {
  json: { raw: "bytes", url: "uri", filename: "name", mediaType: "mimeType" },
  proto: { raw: "fileWithBytes", url: "fileWithUri", filename: "name", mediaType: "mimeType" },
} as const;

/**
 * Marks data that was no object. An older version has objects only, so such data is the member `value` of one. The
 * official SDKs use the same mark.
 */
const wrappedMark = "data_part_compat";

/** A part of a message or an artifact. */
export function partForm(dialect: keyof typeof places): Form {
  const { raw, url, filename, mediaType } = places[dialect];
  const isJson = dialect === "json";

  /** The content of an older part, and its metadata. */
  function contentOf(part: JsonObject): { readonly kind: string; readonly content: JsonObject } {
    const { text, data, metadata } = part;
    const rest: JsonObject = metadata !== undefined ? { metadata } : {};
    if (text !== undefined) {
      return { kind: "text", content: { text, ...rest } };
    }
    if (data !== undefined) {
      const isWrapped = !isObject(data);
      const object = isWrapped ? { value: data } : data;
      const mark: JsonObject = { [wrappedMark]: true };
      const marked = isWrapped ? { metadata: mergeMembers(metadata as JsonObject | undefined, mark) } : rest; // by its type
      return { kind: "data", content: { data: isJson ? object : { data: object }, ...marked } };
    }
    const file = {
      ...pick(part, "filename", filename),
      ...pick(part, "mediaType", mediaType),
      ...pick(part, "raw", raw),
      ...pick(part, "url", url),
    };
    return { kind: "file", content: { file, ...rest } };
  }

  return {
    toOlder(value) {
      const { kind, content } = contentOf(value as JsonObject); // a part is an object
      return isJson ? { kind, ...content } : content;
    },
    toCurrent(value, walk) {
      if (!isObject(value)) {
        report(walk, "must be an object");
        return undefined;
      }
      const current = readContent(value, walk) ?? (walk.isLenient ? {} : undefined); // a part of a newer kind
      const metadata = value["metadata"] ?? undefined;
      if (current === undefined || metadata === undefined) {
        return current;
      }
      return isObject(metadata) ? unwrapData({ ...current, metadata }, metadata) : { ...current, metadata };
    },
    olderPath(path) {
      const [name, ...rest] = path;
      switch (name) {
        case "raw":
        case "url":
        case "filename":
        case "mediaType":
          return ["file", places[dialect][name]];
        case "data":
          return isJson ? [name, ...rest] : [name, "data", ...rest];
        default:
          return path;
      }
    },
  };

  function readContent(part: Members, walk: FieldWalk): Record<string, unknown> | undefined {
    const kind = isJson ? (part["kind"] ?? part["type"] ?? guessKind(part)) : guessKind(part);
    switch (kind) {
      case "text":
        return isMissing(part, "text", walk) ? undefined : { text: part["text"] };
      case "file":
        return readFile(part, walk);
      case "data":
        return readData(part, walk);
      default:
        reportAt(walk, "kind", "must be text, file or data");
        return undefined;
    }
  }

  /** Before 0.2.1 the members of a file stood in the part itself. */
  function readFile(part: Members, walk: FieldWalk): Record<string, unknown> | undefined {
    const nested = part["file"] ?? undefined;
    const file = nested === undefined ? part : nested;
    if (!isObject(file)) {
      reportAt(walk, "file", "must be an object");
      return undefined;
    }
    const contents = [raw, url].filter((name) => (file[name] ?? undefined) !== undefined);
    if (contents.length !== 1) {
      reportAt(walk, "file", `needs exactly one of ${raw}, ${url}`);
      return undefined;
    }
    return {
      ...pick(file, raw, "raw"),
      ...pick(file, url, "url"),
      ...pick(file, filename, "filename"),
      ...pick(file, mediaType, "mediaType"),
    };
  }

  function readData(part: Members, walk: FieldWalk): Record<string, unknown> | undefined {
    if (isMissing(part, "data", walk)) {
      return undefined;
    }
    const data = isJson ? part["data"] : (part["data"] as Members)["data"]; // the JSON of a DataPart
    if (!isObject(data)) {
      reportAt(walk, "data", "must be an object");
      return undefined;
    }
    return { data };
  }
}

/** Data that was no object, without the mark. */
function unwrapData(current: Readonly<Record<string, unknown>>, metadata: Members): Record<string, unknown> {
  const { data } = current;
  if (metadata[wrappedMark] !== true || !isObject(data) || !Object.hasOwn(data, "value")) {
    return current;
  }
  const others = Object.entries(metadata).filter(([name]) => name !== wrappedMark);
  const rest = others.length === 0 ? {} : { metadata: toTable(others) };
  return { data: data["value"], ...rest };
}

/** What a part is that does not say it. */
function guessKind(part: Members): string | undefined {
  const has = (...members: string[]) => members.some((name) => (part[name] ?? undefined) !== undefined);
  if (has("text")) {
    return "text";
  }
  return has("file", "uri", "bytes") ? "file" : has("data") ? "data" : undefined;
}

function isMissing(part: Members, name: string, walk: FieldWalk): boolean {
  const missing = (part[name] ?? undefined) === undefined;
  if (missing) {
    reportMissing(walk, name);
  }
  return missing;
}

/** A member under another name; nothing when it is not set. */
function pick(members: Members, name: string, as: string): JsonObject {
  const value = members[name] ?? undefined;
  return value === undefined ? {} : { [as]: value as JsonValue };
}
