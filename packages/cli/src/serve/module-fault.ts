import { execFile } from "node:child_process";
import { findPackageJSON } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { defined } from "../json.ts";

/** Why a module could not be loaded. */
export interface Fault {
  readonly problem: string;
  /** Path of the file at fault, which may be one that it imports; undefined when nothing tells. */
  readonly file?: string;
  readonly line?: number;
  readonly hint?: string;
}

/** What is wrong with a module whose import threw, and where. @param entry path of the module that was imported */
export async function findFault(error: unknown, entry: string): Promise<Fault> {
  if (!(error instanceof Error)) {
    return { problem: `it threw ${String(error)}` };
  }
  const place = findPlace(error.stack ?? "") ?? (await findSyntaxError(error, entry));
  return {
    problem: sayProblem(error),
    ...place,
    ...defined({ hint: findHint(error, place?.file ?? entry) }),
  };
}

export type Place = Required<Pick<Fault, "file" | "line">>;

/**
 * The line above an excerpt of a module (`PLACE:2`), and a frame of a stack (`at f (PLACE:2:7)`), as Node writes them: the place is
 * a URL where it has loaded an ES module or left types out, otherwise a path, spaces and all. Its own modules, `node:…`, are neither.
 */
const placed =
  /^(?:\s+at (?:async )?(?:.*? \()?)?(?<place>file:\/\/\/\S+?|(?:\/|[a-z]:[\\/]|\\\\).+?):(?<line>\d+)(?::\d+\)?)?$/gim;

/** What imports the modules is in all stacks, and at fault in none. */
const ownFolder = new URL(".", import.meta.url).href;

/**
 * The first place that a stack, or what Node prints of an error, names outside of Node and this command; one in what is installed only
 * where there is no other.
 */
export function findPlace(text: string): Place | undefined {
  let installed: Place | undefined;
  for (const { groups: { place = "", line } = {} } of text.matchAll(placed)) {
    if (place.startsWith(ownFolder) || place.endsWith("<anonymous>")) continue; // the latter: what was evaluated
    const found = { file: /^file:/i.test(place) ? fileURLToPath(place) : place, line: Number(line) };
    if (!/[\\/]node_modules[\\/]/.test(found.file)) return found;
    installed ??= found;
  }
  return installed;
}

/**
 * The place of a SyntaxError in an ES module, which V8 tells only when the error is caught by nothing: from what another Node says
 * on stderr. Nothing is run, because parsing fails before any module begins.
 */
async function findSyntaxError(error: Error, entry: string): Promise<Place | undefined> {
  if (!(error instanceof SyntaxError)) return undefined;
  const args = ["--import", pathToFileURL(entry).href, "--eval", ""];
  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { timeout: 10_000 }, (_error, _stdout, stderr) => resolve(stderr));
  });
  return findPlace(said);
}

/** Node names importers by their absolute path, which the user knows, and once more in the lines below. */
function sayProblem({ message }: Error): string {
  return message
    .replace(/\nRequire stack:\n[\s\S]*$/, "")
    .replace(/ imported from .+[\\/]([^\\/]+)$/, " imported from $1");
}

/** @param file path of the module at fault */
function findHint(error: Error, file: string): string | undefined {
  switch ("code" in error ? error.code : undefined) {
    case "ERR_MODULE_NOT_FOUND":
    case "MODULE_NOT_FOUND":
      return /package '|module '[^./\\]/.test(error.message)
        ? "install what it imports: npm install"
        : undefined;
    case "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX":
      return "Node runs TypeScript by leaving the types out: no enum, namespace or parameter property";
    default:
      return error instanceof SyntaxError && esmOnly.test(error.message) ? sayModuleType(file) : undefined;
  }
}

/** What V8 says of an ES module that Node takes for CommonJS. */
const esmOnly =
  /^Cannot use (?:import statement|'import\.meta') outside a module|^Unexpected token 'export'|^await is only valid/;

function sayModuleType(file: string): string {
  const [name = ""] = file.split(/[\\/]/).slice(-1);
  const renamed = `Node reads it as CommonJS: rename it to ${name.replace(/\.c?([jt]s)$/, ".m$1")}`;
  const decider = /\.c[jt]s$/.test(name) ? undefined : findPackageJSON(pathToFileURL(file));
  return decider === undefined ? renamed : `${renamed}, or say "type": "module" in ${decider}`;
}
