import { execFile } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Why a module could not be loaded. */
export interface Fault {
  readonly problem: string;
  /** The file at fault, which may be one that it imports; undefined when nobody can tell. */
  readonly file?: string;
  /** Counted from 1. */
  readonly line?: number;
  readonly hint?: string;
}

/** A place in a stack or an arrow message: a file of somebody, not of Node. */
const place = /(file:\/\/\/[^\s)]+?):(\d+)/;

/**
 * What is wrong with a module whose import threw, and where.
 *
 * @param entry path of the module that was imported
 */
export async function findFault(error: unknown, entry: string): Promise<Fault> {
  if (!(error instanceof Error)) {
    return { problem: `it threw ${String(error)}` };
  }
  const hint = findHint(error);
  const text = isUnplaced(error) ? await parseAgain(entry) : (error.stack ?? "");
  const [, url, line] = place.exec(text) ?? [];
  return {
    problem: withoutImporter(error.message),
    ...(url === undefined || codeOf(error) === "ERR_MODULE_NOT_FOUND"
      ? {}
      : { file: fileURLToPath(url), line: Number(line) }),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** A SyntaxError of V8 tells its place only when nobody catches it. */
function isUnplaced(error: Error): boolean {
  return error instanceof SyntaxError && !place.test(error.stack ?? "");
}

/** What another Node says about it on stderr. Nothing is run: parsing fails before any module begins. */
function parseAgain(entry: string): Promise<string> {
  const args = ["--import", pathToFileURL(entry).href, "--eval", ""];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 10_000 }, (_error, _stdout, stderr) => resolve(stderr));
  });
}

function findHint(error: Error): string | undefined {
  switch (codeOf(error)) {
    case "ERR_MODULE_NOT_FOUND":
      return /package '/.test(error.message) ? "install what it imports: npm install" : undefined;
    case "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX":
      return "Node runs TypeScript by leaving the types out: no enum, namespace or parameter property";
    default:
      return undefined;
  }
}

function codeOf(error: Error): unknown {
  return "code" in error ? error.code : undefined;
}

/** Node names modules by their absolute path; for the file that the user has named, that says nothing new. */
function withoutImporter(message: string): string {
  return message.replace(/ imported from .+\/([^/]+)$/, " imported from $1");
}
