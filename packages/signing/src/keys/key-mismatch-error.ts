/** A key cannot be used for what it was given for: another type, another curve, too weak, not made for signatures. */
export class KeyMismatchError extends Error {
  /** @param message a sentence for people, without a full stop and without anything of the key */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "KeyMismatchError";
  }
}
