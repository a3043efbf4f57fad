/** A key cannot be used for what it was given for: another type, another curve, too weak, not made for signatures. */
export class KeyMismatchError extends Error {
  /** What to do about it, where it is not to take another key; a sentence without a full stop. */
  readonly hint: string | undefined;

  /** @param message a sentence for people, without a full stop and without anything of the key */
  constructor(message: string, options: ErrorOptions & { readonly hint?: string } = {}) {
    super(message, options);
    this.name = "KeyMismatchError";
    this.hint = options.hint;
  }
}
