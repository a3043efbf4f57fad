import type { Part } from "@a2a-connect/proto";

/** The media types of JSON on our wires, the preferred one first (requirement K-3). */
export const jsonMediaTypes = ["application/a2a+json", "application/json"] as const;

/** One of {@link jsonMediaTypes}. */
export type JsonMedia = (typeof jsonMediaTypes)[number];

/** A media type without its parameters, in lower case: `text/plain`. */
export interface MediaType {
  readonly type: string;
  readonly subtype: string;
}

/** The request's headers about JSON media types, and the type to answer with when it has none. */
export interface JsonMediaRequest {
  /** The request's Content-Type, if any. */
  readonly contentType: string | null | undefined;
  /** The request's Accept, if any. */
  readonly accept: string | null | undefined;
  readonly fallback: JsonMedia;
}

/** A type and a subtype have at most 127 characters each (RFC 6838); the rest is for parameters. */
export const maxMediaTypeLength = 1_024;

/**
 * Parses `type/subtype` with or without parameters, also ranges such as `text/*`. Undefined for any other text, and for
 * more than 1,024 characters: a part's media type is the caller's text, and is compared with each type that an agent
 * accepts.
 */
export function parseMediaType(text: string): MediaType | undefined {
  if (text.length > maxMediaTypeLength) {
    return undefined;
  }
  const match = /^\s*([\w!#$&^.+*-]+)\/([\w!#$&^.+*-]+)\s*(?:;.*)?$/s.exec(text);
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : { type: match[1].toLowerCase(), subtype: match[2].toLowerCase() };
}

/**
 * Whether a media type is in a range (`text/plain`, `text/*`, `*` + `/*`). Parameters and case do not matter. A text
 * that is not a media type matches nothing.
 */
export function matchesMediaType(range: string, mediaType: string): boolean {
  const wanted = parseMediaType(range);
  const given = parseMediaType(mediaType);
  return (
    wanted !== undefined &&
    given !== undefined &&
    (wanted.type === "*" || wanted.type === given.type) &&
    (wanted.subtype === "*" || wanted.subtype === given.subtype)
  );
}

/**
 * The media type of a part's content: as declared, else text/plain for text, application/json for data and
 * application/octet-stream for files.
 */
export function effectiveMediaType({ mediaType, content }: Part): string {
  if (mediaType !== "") {
    return mediaType;
  }
  switch (content.case) {
    case "text":
      return "text/plain";
    case "data":
      return "application/json";
    default:
      return "application/octet-stream";
  }
}

/** Which of our JSON media types a Content-Type is, with any parameters; undefined for any other. */
export function parseJsonMedia(contentType: string | null | undefined): JsonMedia | undefined {
  const parsed = parseMediaType(contentType ?? "");
  const name = parsed && `${parsed.type}/${parsed.subtype}`;
  return name === "application/a2a+json" || name === "application/json" ? name : undefined;
}

/**
 * The media type of an answer (requirement K-3): the one to which Accept gives the higher weight. When Accept weighs
 * both alike or names neither, it is the type of the request's body, then the first that Accept names, then the
 * fallback. A range such as `*` + `/*` names neither.
 */
export function negotiateJsonMedia({ contentType, accept, fallback }: JsonMediaRequest): JsonMedia {
  const named = preferredJsonMedia(accept ?? "");
  const [only, ...others] = named;
  if (only !== undefined && others.length === 0) {
    return only;
  }
  return parseJsonMedia(contentType) ?? only ?? fallback;
}

/**
 * The media type of an error (requirement K-3): the first that Accept weighs highest, as for every answer. But a caller
 * that names neither type and wants a stream gets application/json: the official Go client asks for `text/event-stream`
 * alone, and reads no error of any other type.
 */
export function negotiateErrorMedia(request: JsonMediaRequest): JsonMedia {
  const accept = request.accept ?? "";
  const [first] = preferredJsonMedia(accept);
  if (first !== undefined) {
    return first;
  }
  return accept
    .split(",")
    .some((range) => matchesMediaType(range, "text/event-stream") && !range.includes("*"))
    ? "application/json"
    : negotiateJsonMedia(request);
}

/** Our media types with the highest weight in an Accept header, in its order. */
function preferredJsonMedia(accept: string): JsonMedia[] {
  const weighed = accept.split(",").flatMap((range) => {
    const media = parseJsonMedia(range);
    return media === undefined ? [] : [{ media, weight: parseWeight(range) }];
  });
  const highest = Math.max(...weighed.map(({ weight }) => weight));
  return [
    ...new Set(weighed.filter(({ weight }) => weight > 0 && weight === highest).map(({ media }) => media)),
  ];
}

function parseWeight(range: string): number {
  const weight = /;\s*q\s*=\s*([\d.]+)/i.exec(range)?.[1];
  return weight === undefined ? 1 : Number(weight);
}
