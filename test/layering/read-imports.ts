import { parseSync } from "vite";

/** One import, export-from, dynamic import or import type of a module. */
export interface Import {
  /** As written: `./x.ts`, `node:fs`, `@scope/name/sub`. */
  readonly specifier: string;
  /** Whether it loads nothing when its module is loaded: a dynamic `import()`, or one of types alone. */
  readonly lazy: boolean;
}

/** Syntax nodes that name another module, by how they do it. */
const lazyByNode: ReadonlyMap<unknown, boolean> = new Map([
  ["ImportDeclaration", false],
  ["ExportNamedDeclaration", false],
  ["ExportAllDeclaration", false],
  ["TSImportType", true],
  ["ImportExpression", true],
]);

/**
 * Every import of a module, those of types included.
 *
 * @throws Error when the text cannot be parsed, or when a dynamic import is computed, other than from a path that is
 *   named when the program runs: nobody could check it
 */
export function readImports(file: string, text: string): Import[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) {
    throw new Error(`${file}: ${errors[0]?.message}`);
  }
  const found: Import[] = [];
  visit(program, (node) => {
    const lazy = lazyByNode.get(node["type"]);
    const source = node["source"]; // null for an export of the module's own
    if (lazy === undefined || source === null) {
      return;
    }
    if (isUserFile(source)) {
      return;
    }
    const specifier = isNode(source) && source["type"] === "Literal" ? source["value"] : undefined;
    if (typeof specifier !== "string") {
      throw new Error(`${file}: the import at offset ${node["start"]} is computed`);
    }
    const isOfTypes = node["importKind"] === "type" || node["exportKind"] === "type";
    found.push({ specifier, lazy: lazy || isOfTypes });
  });
  return found;
}

/** `pathToFileURL(…).href`: a file that somebody names when the program runs, so none of the workspace's modules. */
function isUserFile(source: unknown): boolean {
  if (!isNode(source) || source["type"] !== "MemberExpression") {
    return false;
  }
  const { object, property } = source;
  const callee = isNode(object) && object["type"] === "CallExpression" ? object["callee"] : undefined;
  return (
    isNode(callee) && callee["name"] === "pathToFileURL" && isNode(property) && property["name"] === "href"
  );
}

type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}

function visit(value: unknown, look: (node: Node) => void): void {
  if (!isNode(value)) {
    return;
  }
  look(value);
  for (const child of Object.values(value)) {
    visit(child, look);
  }
}
