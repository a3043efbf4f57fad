/** Interim answers (1xx, such as Early Hints) before the answer to a request. */
const maxAnswers = 16;

/** Names and values of the fields of all of them, and 4 bytes for each field. */
const maxBytes = 16 * 1024;

type Fields = Readonly<Record<string, string | readonly string[] | number | undefined>>;

/** Counts the interim answers to a request, which a server could send without end. */
export class InterimAnswers {
  #answers = 0;
  #bytes = 0;

  /** One more has come. @returns why the request ends */
  refuse(fields: Fields): Error | undefined {
    this.#answers += 1;
    for (const name in fields) {
      for (const value of [fields[name] ?? ""].flat()) this.#bytes += name.length + String(value).length + 4;
    }
    const isTooMuch = this.#answers > maxAnswers || this.#bytes > maxBytes;
    return isTooMuch ? new Error("the server sent too many interim answers") : undefined;
  }
}
