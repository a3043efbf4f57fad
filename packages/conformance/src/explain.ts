import { inspect } from "node:util";
import { visibleText } from "@a2a-connect/core/internal";

/** Characters of a sentence. What a server has sent may be in it. */
const maxLength = 1_500;

/** What a scenario has thrown, as a sentence for people, without what a terminal might act upon. */
export function explainFailure(error: unknown): string {
  const visible = visibleText(describe(error).slice(0, 2 * maxLength)).trim();
  return visible.length > maxLength ? `${visible.slice(0, maxLength)}…` : visible;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return describeComparison(error) ?? [error.message, ...causesOf(error)].join(": ");
}

/** Matchers that compare say `expected … to be …`, and leave out what is long. */
function describeComparison(error: Error): string | undefined {
  const match = /^(?<about>[\s\S]*?)expected [\s\S]* to (?:be|(?:(?:deeply|strictly) )?equal) /.exec(
    error.message,
  );
  if (match === null || !("actual" in error && "expected" in error)) return undefined;
  return `${match.groups?.["about"] ?? ""}found ${show(error.actual)}, wanted ${show(error.expected)}`;
}

function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = inspect(value, { depth: 5, breakLength: Infinity, maxStringLength: 300, maxArrayLength: 20 });
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
