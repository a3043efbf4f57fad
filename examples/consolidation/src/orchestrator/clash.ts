import { visibleText } from "@a2a-connect/node/client";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** A contradiction as the worker asks about it, and as somebody who is to decide it sees it. */
export interface Clash {
  readonly subject: string;
  readonly predicate: string;
  readonly candidates: readonly Candidate[];
}

/** One of the values that contradict each other. */
export interface Candidate {
  readonly value: string;
  readonly evidence: readonly Testimony[];
}

/** Who said so, and when. */
export interface Testimony {
  readonly saidBy: string;
  readonly at: string;
  readonly quote: string;
  readonly transcript: string;
  readonly firsthand: boolean;
}

/** Decides a contradiction: the value that is right, or undefined where nobody knows. */
export type ClashResolver = (clash: Clash) => string | undefined | Promise<string | undefined>;

/**
 * A contradiction out of a question's details; undefined when they are anything else. An agent wrote them: what is text
 * comes out without terminal sequences, what is missing is empty.
 */
export function readClash(details: JsonValue | undefined): Clash | undefined {
  if (!isObject(details) || details["kind"] !== "contradiction") {
    return undefined;
  }
  return {
    subject: readText(details["subject"]),
    predicate: readText(details["predicate"]),
    candidates: readObjects(details["candidates"]).map(({ value, evidence }) => ({
      value: readText(value),
      evidence: readObjects(evidence).map((each) => ({
        saidBy: readText(each["saidBy"]),
        at: readText(each["at"]),
        quote: readText(each["quote"]),
        transcript: readText(each["transcript"]),
        firsthand: each["firsthand"] === true,
      })),
    })),
  };
}

/** The objects in a list; none when it is no list. */
export function readObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Text that a terminal may see. */
export function readText(value: JsonValue | undefined): string {
  return typeof value === "string" ? visibleText(value) : "";
}

/** Whether JSON is an object. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
