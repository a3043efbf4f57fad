/**
 * Something that was given to sign with, to be signed, or as a key, cannot be used. Repeats nothing of a private key, neither in its
 * texts nor in its cause.
 */
export class SigningError extends Error {
  /** What to do about it, in a sentence without a full stop. */
  readonly hint: string;

  /** @param message a sentence for people, without a full stop */
  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SigningError";
    this.hint = hint;
  }
}
