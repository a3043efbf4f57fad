import { isObject } from "@a2a-connect/core/internal";
import type { JsonObject } from "@bufbuild/protobuf";
import { readStrictJson } from "./json.ts";

/** What is wrong with a text, so that it has no one meaning, and so no canonical form. */
export type CardTextFault =
  | "not-json"
  | "not-an-object"
  | "too-deep"
  | "too-large"
  | "duplicate-member"
  | "both-spellings"
  | "lone-surrogate"
  | "number-out-of-range";

/** A card has no canonical form, because it is not a JSON object or could be read in two ways. */
export class CardTextError extends Error {
  readonly fault: CardTextFault;
  /** Where, such as `skills[0].name`; undefined: the whole text. */
  readonly path: string | undefined;

  /** @param message a sentence for people, without a full stop */
  constructor(fault: CardTextFault, message: string, path?: string) {
    super(message);
    this.name = "CardTextError";
    this.fault = fault;
    this.path = path;
  }
}

/** Longest card that is verified or signed, in UTF-16 code units. */
export const defaultMaxCardLength: number = 1024 * 1024;

/**
 * The JSON object that a text is, when all readers read the same in it: no name twice in an object, nested no deeper than 100
 * levels. Says nothing about whether it is a card.
 *
 * @throws CardTextError that names what is wrong and where
 */
export function readCardText(text: string, maxLength: number = defaultMaxCardLength): JsonObject {
  if (text.length > maxLength) {
    throw new CardTextError("too-large", `the card is longer than ${maxLength} characters`);
  }
  const read = readStrictJson(text);
  if (read.fault !== undefined) throw new CardTextError(read.fault, `the card ${read.problem}`, read.path);
  if (isObject(read.json)) return read.json;
  throw new CardTextError("not-an-object", "the card is not a JSON object");
}
