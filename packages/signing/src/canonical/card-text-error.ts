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
