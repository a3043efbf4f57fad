import { InvalidArgumentError, Option } from "commander";

/** A key that signs no more, and until when it verifies. */
export interface RetiredKey {
  readonly file: string;
  readonly until: Date;
}

/** `--sign-key`. */
export function signKeyOption(): Option {
  return new Option(
    "--sign-key <file>",
    "sign the card with this private key (JWK or PEM), repeatable; its public side is at /.well-known/jwks.json",
  ).argParser((file: string, before: readonly string[] = []) => [...before, file]);
}

/** `--retired-key`. */
export function retiredKeyOption(): Option {
  return new Option(
    "--retired-key <file@date>",
    "keep this key, which signs no more, in the key set until then, repeatable: old.public.json@2027-01-31",
  ).argParser((text: string, before: readonly RetiredKey[] = []) => [
    ...before,
    parseRetiredKey(text, Date.now()),
  ]);
}

/** ISO 8601: a day, which means its beginning in UTC, or a time with its zone. */
const isoDate = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Reads `FILE@DATE`. A file may have an @ in its name, a date has none.
 *
 * @param now milliseconds since 1970
 * @throws InvalidArgumentError when the date is none, or past
 */
function parseRetiredKey(text: string, now: number): RetiredKey {
  const at = text.lastIndexOf("@");
  const [file, date] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  const until = new Date(date);
  const isDate = isoDate.test(date) && !Number.isNaN(until.getTime());
  // What is after the end of a month would be a day of the next one.
  if (file === "" || !isDate || (date.length === 10 && !until.toISOString().startsWith(date))) {
    throw new InvalidArgumentError("It is a file, @ and a date: old.public.json@2027-01-31.");
  }
  if (until.getTime() <= now) {
    throw new InvalidArgumentError("The date is past: leave the key out, it verifies nothing any more.");
  }
  return { file, until };
}
