import { defaultMaxDepth, scanJson } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "./json-members.ts";

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

/** A card has no canonical form, because it is no JSON object or could be read in two ways. */
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

/** Longest card that is read, in UTF-16 code units, where nothing else is said. */
export const defaultMaxCardLength: number = 1024 * 1024;

/**
 * The JSON object that a text is, when everybody reads the same in it: no name twice in an object, nested no deeper than 100
 * levels. Says nothing about whether it is a card.
 *
 * @throws CardTextError that names what is wrong and where
 */
export function readCardText(text: string, maxLength: number = defaultMaxCardLength): JsonObject {
  if (text.length > maxLength) {
    throw new CardTextError("too-large", `the card is longer than ${maxLength} characters`);
  }
  const defect = scanJson(text, { maxDepth: defaultMaxDepth, duplicates: "everywhere" });
  if (defect?.kind === "too-deep") {
    throw new CardTextError("too-deep", `the card is nested deeper than ${defaultMaxDepth} levels`);
  }
  const json = parse(text);
  // After parsing: of what is no JSON at all, a name that stands twice is not the news.
  if (defect?.kind === "duplicate-member") {
    const problem = `the member ${defect.path} stands twice, and nobody knows which one counts`;
    throw new CardTextError("duplicate-member", problem, defect.path);
  }
  if (!isObject(json)) {
    throw new CardTextError("not-an-object", "the card is not a JSON object");
  }
  return json;
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    throw new CardTextError("not-json", "the card is not JSON");
  }
}
