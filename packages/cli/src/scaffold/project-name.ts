import { CliError } from "../cli-error.ts";

/** What a project is called in all the places where its name stands. */
export interface ProjectName {
  /** Of the package and its directory: `table-booker`. */
  readonly name: string;
  /** Of the agent, for people: `Table booker`. */
  readonly title: string;
}

/** Names that npm or Node take for something else. */
const taken: ReadonlySet<string> = new Set(["node_modules", "test", "node", "package", "favicon.ico"]);

/** @throws CliError USAGE when the name is none that a package may have */
export function parseProjectName(name: string): ProjectName {
  if (!/^[a-z][a-z0-9]*(?:[-._][a-z0-9]+)*$/.test(name) || name.length > 64 || taken.has(name)) {
    const suggestion = suggestName(name);
    throw new CliError(
      "A2ACLI_ERR_USAGE",
      `"${name}" cannot be the name of a project: lowercase letters, digits and single hyphens, beginning with a letter`,
      suggestion === undefined ? {} : { hint: `a2a new ${suggestion}` },
    );
  }
  const words = name.replaceAll(/[-._]/g, " ");
  return { name, title: words.charAt(0).toUpperCase() + words.slice(1) };
}

function suggestName(name: string): string | undefined {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^[-0-9]+|-+$/g, "")
    .slice(0, 64);
  return plain === "" || taken.has(plain) ? undefined : plain;
}
