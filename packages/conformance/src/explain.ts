import { visibleText } from "@a2a-connect/core/internal";
import { chai } from "@vitest/expect";

/** Characters of a sentence. What a server has sent may be in it. */
const maxLength = 1_500;

/** Characters of what the server has said. The exchanges have more of it. */
const maxAbout = 200;

/** What a scenario has thrown, as a sentence for people, without what a terminal might act upon. */
export function explainFailure(error: unknown): string {
  const visible = visibleText(describe(error).slice(0, 2 * maxLength)).trim();
  return visible.length > maxLength ? `${visible.slice(0, maxLength)}…` : visible;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // What a scenario adds to a matcher's words is what the server has said: the outcome comes first.
  const message = shorten(error.message).replace(
    /expected undefined to be defined$/,
    "expected something, found nothing",
  );
  const [, about, words] = /^([\s\S]+?): (expected [\s\S]*)$/.exec(message) ?? [];
  const outcome = describeComparison(error, message) ?? words ?? [message, ...causesOf(error)].join(": ");
  if (about === undefined) return outcome;
  return `${outcome}; about: ${about.length > maxAbout ? `${about.slice(0, maxAbout)}…` : about}`;
}

/** One value would do: not `to be less than`, for example. */
const comparison =
  /expected [\s\S]* to (?:be(?! (?:defined|less|greater|one of)\b)|(?:(?:deeply|strictly) )?equal) /;

/** Matchers that compare say `expected … to be …`, and leave out what is long. */
function describeComparison(error: Error, message: string): string | undefined {
  if (!comparison.test(message)) return undefined;
  if (!("actual" in error && "expected" in error)) return undefined;
  return `found ${show(error.actual)}, wanted ${show(error.expected)}`;
}

/** Without its middle, when it is long: an answer of megabytes may be in it. */
function shorten(text: string): string {
  return text.length > 2 * maxLength ? `${text.slice(0, maxLength)}… ${text.slice(-maxLength)}` : text;
}

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = chai.util.inspect(value, false, 5);
  return text.length > maxLength / 2 ? `${text.slice(0, maxLength / 2)}…` : text;
}

/** `fetch failed` alone tells nothing. */
function causesOf(error: Error): string[] {
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error && causes.length < 3; { cause } = cause) {
    causes.push(cause.message || ("code" in cause ? String(cause.code) : cause.name));
  }
  return causes;
}
