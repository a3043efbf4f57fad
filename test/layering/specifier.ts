import { builtinModules } from "node:module";
import { dirname, join } from "node:path";

/** Whether a specifier names a file beside or around the importer. */
export function isRelative(specifier: string): boolean {
  return specifier.startsWith(".");
}

/** Whether a specifier names a module of Node itself, with or without `node:`. */
export function isBuiltin(specifier: string): boolean {
  return specifier.startsWith("node:") || builtinModules.includes(specifier);
}

/** The package that a bare specifier names: `@scope/name` of `@scope/name/sub`. */
export function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** The folder of the package whose test support a relative specifier names, `packages/cli`; undefined for anything else. */
export function testSupportOf(importer: string, specifier: string): string | undefined {
  return /^(packages\/[^/]+)\/test-support\/[^/]+\.ts$/.exec(join(dirname(importer), specifier))?.[1];
}
