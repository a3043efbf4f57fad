/** Values of the `Label: value` lines of an output, by label, in order. */
export function fieldsOf(stdout: string): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const [, label = "", value = ""] of stdout.matchAll(/^([A-Z][A-Za-z ]*): (.+)$/gm)) {
    fields.set(label, [...(fields.get(label) ?? []), value]);
  }
  return fields;
}

/** The last value of a field. @throws Error when there is none */
export function field(stdout: string, label: string): string {
  const value = fieldsOf(stdout).get(label)?.at(-1);
  if (value === undefined) {
    throw new Error(`there is no field ${label} in:\n${stdout}`);
  }
  return value;
}

/** JSON Lines, each line parsed. */
export function linesOf(stdout: string): unknown[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** A command to be copied, as the words that a shell makes of it. Knows single and double quotes. */
export function shellWords(command: string): string[] {
  return [...command.matchAll(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, single, double, escaped) => single ?? double ?? escaped),
  );
}
