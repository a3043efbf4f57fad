import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Import, readImports } from "./read-imports.ts";

/** A source file of the workspace. */
export interface Module {
  /** Path from the repository's root. */
  readonly path: string;
  /** A unit test or its support: not part of what the package ships. */
  readonly test: boolean;
  /** Part of the inspector's page, which is bundled with all that it imports: who installs the package installs none of that. */
  readonly bundled: boolean;
  readonly imports: readonly Import[];
}

/** A package of the workspace, with what its manifest and its tsconfig say. */
export interface WorkspacePackage {
  /** Path from the repository's root: `packages/core`. */
  readonly folder: string;
  /** Name among the arrows: the folder without `packages/`. */
  readonly room: string;
  readonly name: string;
  /** Specifiers that `exports` opens: the name itself and its subpaths. */
  readonly doors: ReadonlySet<string>;
  readonly dependencies: ReadonlySet<string>;
  readonly peerDependencies: ReadonlySet<string>;
  readonly devDependencies: ReadonlySet<string>;
  /** Folders that its tsconfig references; undefined for a package without one, which tsconfig.rest.json covers. */
  readonly references: ReadonlySet<string> | undefined;
  /** Ambient type packages that its tsconfig asks for. */
  readonly ambientTypes: readonly string[];
  readonly modules: readonly Module[];
}

export interface Workspace {
  readonly packages: readonly WorkspacePackage[];
  /** Tools that the root installs for every package. */
  readonly rootTools: ReadonlySet<string>;
}

interface Manifest {
  readonly name: string;
  readonly exports?: string | Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

interface TypeScriptConfig {
  readonly compilerOptions?: { readonly types?: readonly string[] };
  readonly references?: readonly { readonly path: string }[];
}

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Read the workspace from the disk: pnpm-workspace.yaml's folders, and each module in them. */
export function readWorkspace(): Workspace {
  const manifests = globSync(
    ["gen", "packages/*", "examples/*", "bench", "test"].map((each) => `${each}/package.json`),
    {
      cwd: root,
    },
  );
  return {
    packages: manifests.sort().map((manifest) => readPackage(dirname(manifest))),
    rootTools: keys(readJson<Manifest>("package.json").devDependencies),
  };
}

/** Folders that a tsconfig of the root references, such as `packages/core`. */
export function readReferences(config: string): ReadonlySet<string> {
  const { references = [] } = readJson<TypeScriptConfig>(config);
  return new Set(references.map(({ path }) => relative(root, join(root, dirname(config), path))));
}

function readPackage(folder: string): WorkspacePackage {
  const manifest = readJson<Manifest>(`${folder}/package.json`);
  const config = `${folder}/tsconfig.json`;
  const typed = existsSync(join(root, config));
  const { exports = {} } = manifest;
  return {
    folder,
    room: folder.replace(/^packages\//, ""),
    name: manifest.name,
    doors: new Set(
      (typeof exports === "string" ? ["."] : Object.keys(exports)).map((door) => join(manifest.name, door)),
    ),
    dependencies: keys(manifest.dependencies),
    peerDependencies: keys(manifest.peerDependencies),
    devDependencies: keys(manifest.devDependencies),
    references: typed ? readReferences(config) : undefined,
    ambientTypes: typed ? (readJson<TypeScriptConfig>(config).compilerOptions?.types ?? []) : [],
    modules: readModules(folder),
  };
}

function readModules(folder: string): Module[] {
  const paths = globSync(`${folder}/**/*.{ts,tsx,mts,js,mjs}`, {
    cwd: root,
    // The templates are projects of their own.
    exclude: (path) => ["node_modules", "dist", ".build", "templates"].includes(basename(path)),
  });
  return paths.sort().map((path) => ({
    path,
    test: path.endsWith(".test.ts") || (path.startsWith("packages/") && !path.startsWith(`${folder}/src/`)),
    bundled: path.startsWith("packages/inspector/src/page/"),
    imports: readImports(path, readFileSync(join(root, path), "utf8")),
  }));
}

function readJson<Shape>(path: string): Shape {
  return JSON.parse(readFileSync(join(root, path), "utf8")) as Shape; // our own file; a wrong shape fails the rules
}

function keys(entries: Readonly<Record<string, string>> = {}): ReadonlySet<string> {
  return new Set(Object.keys(entries));
}
