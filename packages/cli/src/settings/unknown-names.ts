import { findNearestWord } from "../nearest-word.ts";
import { environmentName, settingOptions } from "../options.ts";

/**
 * A sentence about the `A2ACLI_…` names of one source that nothing reads, with what may be meant; undefined when there are
 * none. Values are not repeated: a misspelt name may be that of a credential.
 *
 * @param where the environment or a file, for people
 */
export function describeUnknownNames(
  where: string,
  values: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const unknown = Object.keys(values).filter(
    (name) => name.startsWith("A2ACLI_") && !knownNames.has(name) && (values[name] ?? "") !== "",
  );
  return unknown.length === 0
    ? undefined
    : `${where}: ${unknown.map(describeName).join(" and ")} ${unknown.length === 1 ? "means" : "mean"} nothing here`;
}

const knownNames: ReadonlySet<string> = new Set(
  settingOptions.filter(({ flagOnly }) => flagOnly !== true).map(({ flag }) => environmentName(flag)),
);

function describeName(name: string): string {
  const flagOnly = settingOptions.find(({ flag }) => environmentName(flag) === name);
  if (flagOnly !== undefined) {
    return `${name} (only the flag --${flagOnly.flag})`;
  }
  const nearest = findNearestWord(name.slice("A2ACLI_".length), [...knownNames].map(withoutPrefix));
  return nearest === undefined ? name : `${name} (did you mean A2ACLI_${nearest}?)`;
}

function withoutPrefix(name: string): string {
  return name.slice("A2ACLI_".length);
}
