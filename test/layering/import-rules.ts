import { dirname, join } from "node:path";
import {
  generalize,
  lazyArrows,
  packageArrows,
  roomsLeftOf,
  runtimeNeutral,
  serverArrows,
  testArrows,
} from "./arrows.ts";
import type { Import } from "./read-imports.ts";
import { isBuiltin, isRelative, packageOf, testSupportOf } from "./specifier.ts";
import type { Module, Workspace, WorkspacePackage } from "./workspace.ts";

/** One thing that is wrong, as a sentence that begins with the file. */
export type Violation = string;

/** What is wrong with the imports of each module: arrows, deep imports, runtime, rooms of the server. */
export function checkImports({ packages }: Workspace): Violation[] {
  const byName = new Map(packages.map((each) => [each.name, each]));
  return packages.flatMap((home) => {
    if (generalize(packageArrows, home.room) === undefined) {
      return [`${home.folder}: the arrows do not know this package`];
    }
    const files = new Map(home.modules.map((module) => [module.path, module]));
    return home.modules.flatMap((module) =>
      module.imports.flatMap((each) => {
        const problem = isRelative(each.specifier)
          ? checkRelative(home, files, module, each)
          : checkBare(home, byName.get(packageOf(each.specifier)), module, each);
        return problem === undefined ? [] : [`${module.path}: imports ${each.specifier}: ${problem}`];
      }),
    );
  });
}

function checkRelative(
  home: WorkspacePackage,
  files: ReadonlyMap<string, Module>,
  module: Module,
  { specifier }: Import,
): string | undefined {
  const path = join(dirname(module.path), specifier);
  if (!path.startsWith(`${home.folder}/`)) {
    // What tests of a package stand on is nothing that it exports; tests of more than one package may use it, too.
    return home.room === "test" && testSupportOf(module.path, specifier) !== undefined
      ? undefined
      : "leaves its package";
  }
  const target = files.get(path);
  if (target === undefined && /\.(?:json|css)$/.test(path)) {
    return undefined; // data or a style of the same package, which imports nothing; the type check knows whether it is there
  }
  if (target === undefined) {
    return /\.[mc]?[jt]sx?$/.test(path) ? "there is no such file" : "has no file extension of a module";
  }
  if (target.test && !module.test) {
    return "what is shipped does not import tests";
  }
  return home.room === "server" && !module.test ? checkServerRooms(module.path, path) : undefined;
}

function checkServerRooms(from: string, to: string): string | undefined {
  const [room, wanted] = [serverRoom(from), serverRoom(to)];
  if (generalize(serverArrows, room) === undefined) {
    return `the arrows do not know the server's room ${room}`;
  }
  return room === wanted || roomsLeftOf(serverArrows, room).has(wanted)
    ? undefined
    : `${room} is not right of ${wanted}`;
}

/** `engine` for packages/server/src/engine/events.ts, `agent-server` for the files beside the folders, except `index` and `internal`. */
function serverRoom(path: string): string {
  if (path === "packages/server/src/index.ts" || path === "packages/server/src/internal.ts") {
    return "index";
  }
  return /^packages\/server\/src\/([^/]+)\//.exec(path)?.[1] ?? "agent-server";
}

function checkBare(
  home: WorkspacePackage,
  target: WorkspacePackage | undefined,
  module: Module,
  { specifier, lazy }: Import,
): string | undefined {
  if (isBuiltin(specifier)) {
    return runtimeNeutral.includes(home.room) && !module.test
      ? "this package runs on every runtime"
      : undefined;
  }
  if (target === undefined) {
    return undefined; // of a registry: the manifest rule has it
  }
  if (!target.doors.has(specifier)) {
    return "is not exported (deep import)";
  }
  const wanted = generalize(packageArrows, target.room) ?? target.room;
  const allowed =
    roomsLeftOf(packageArrows, home.room).has(wanted) ||
    (module.test && (target === home || testArrows.includes(wanted))) ||
    (lazy && lazyArrows[home.room]?.includes(wanted) === true);
  return allowed ? undefined : `${home.room} is not right of ${target.room}`;
}
