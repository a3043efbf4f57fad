import { effectiveMediaType, matchesMediaType, toJsonValue } from "@a2a-connect/core/internal";
import type { Part } from "@a2a-connect/proto";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { UntrustedOutputError } from "../errors.ts";
import type { Inspect, Inspected } from "../options.ts";
import { findMediaLie } from "./media-lie.ts";
import { validate } from "./validate.ts";

/**
 * Refuses files that are not of the type that they declare: an executable as `image/png`, a web page as `text/plain`.
 * It looks at the first bytes of raw parts. It does not fetch parts by URL.
 */
export function declaredMediaType(): Inspect {
  return ofParts(async (part) => {
    if (part.content.case !== "raw") return;
    const lie = await findMediaLie(part.content.value, effectiveMediaType(part));
    if (lie !== undefined) {
      throw new UntrustedOutputError(`the bytes of ${nameOf(part)} ${lie}`);
    }
  });
}

/** Refuses parts with more than `maxBytes` of content: of bytes, of text in UTF-8, of data as JSON. */
export function maxPartBytes(maxBytes: number): Inspect {
  return ofParts((part) => {
    if (isLarger(part, maxBytes)) {
      throw new UntrustedOutputError(`${nameOf(part)} is larger than the limit of ${maxBytes} bytes`);
    }
  });
}

/** Which data parts a schema applies to. */
export interface PartSchemaOptions {
  /** Only those of this media type or range. Default all. */
  readonly mediaType?: string;
}

/** Refuses data parts that do not fit a schema (Standard Schema: Zod, Valibot, ArkType and others). */
export function partSchema(schema: StandardSchemaV1, { mediaType }: PartSchemaOptions = {}): Inspect {
  return ofParts(async (part) => {
    const { content } = part;
    if (content.case !== "data") return;
    if (mediaType === undefined || matchesMediaType(mediaType, effectiveMediaType(part))) {
      await validate(schema, toJsonValue(content.value), nameOf(part));
    }
  });
}

/** Refuses what a person does not approve. It asks about every card, artifact and part, one after the other. */
export function approval(ask: (inspected: Inspected) => boolean | Promise<boolean>): Inspect {
  return async (inspected) => {
    if (!(await ask(inspected))) {
      throw new UntrustedOutputError(`the ${inspected.kind} was not approved`);
    }
  };
}

/** All of these inspectors, in this order: what one of them refuses is refused. */
export function all(...inspectors: readonly Inspect[]): Inspect {
  return async (inspected) => {
    for (const inspect of inspectors) {
      await inspect(inspected);
    }
  };
}

function ofParts(inspect: (part: Part) => void | Promise<void>): Inspect {
  return async (inspected) => {
    if (inspected.kind === "part") {
      await inspect(inspected.part);
    }
  };
}

function isLarger({ content }: Part, maxBytes: number): boolean {
  switch (content.case) {
    case "raw":
      return content.value.byteLength > maxBytes;
    case "text":
    case "url":
      return isLongerText(content.value, maxBytes);
    case "data":
      return isLongerText(JSON.stringify(toJsonValue(content.value)), maxBytes);
    default:
      return false;
  }
}

/** A character is 1 to 3 bytes, so most texts need not be encoded to know their size. */
function isLongerText(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).byteLength > maxBytes;
}

function nameOf({ filename }: Part): string {
  return filename === "" ? "a part" : `part ${JSON.stringify(filename)}`;
}
