// Programs and packages of ours, with their dependencies, in few files: a process that a test starts loads them in a third
// of the time that hundreds of sources take.

import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * Bundles a program and all that it imports, once in a run of the tests.
 *
 * @param source its main module
 * @returns the file to start with Node. Beside its folder are the files that the module's package publishes.
 */
export async function bundleProgram(source: URL): Promise<string> {
  const entry = fileURLToPath(source);
  const folder = join(programsFolder(), relative(root, entry).replace(/[\\/]|\.ts$/g, "-"));
  await makeOnce(folder, async (made) => {
    await bundle({ main: entry }, join(made, "dist"));
    const packaged = findPackage(entry);
    const { files = [] } = await readManifest(packaged);
    for (const path of ["package.json", ...files.filter((each) => each !== "dist")]) {
      await cp(join(packaged, path), join(made, path), { recursive: true });
    }
  });
  return join(folder, "dist", "main.js");
}

/**
 * Does what `npm install` would do for packages of ours: their modules are bundles, and their types are the sources.
 *
 * @param directory where the programs are that import them
 */
export async function installPackages(directory: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const installed = join(directory, "node_modules", name);
    await mkdir(dirname(installed), { recursive: true });
    await symlink(await bundlePackage(name), installed);
  }
}

async function bundlePackage(name: string): Promise<string> {
  const folder = join(programsFolder(), "node_modules", name);
  await makeOnce(folder, async (made) => {
    const source = join(root, "packages", name.replace("@a2a-connect/", ""));
    const { exports = {} } = await readManifest(source);
    const paths = Object.values(exports).map(({ types }) => types);
    await bundle(
      Object.fromEntries(paths.map((path) => [moduleName(path), join(source, path)])),
      join(made, "dist"),
    );
    const bundled = Object.entries(exports).map(([entry, { types }]) => [
      entry,
      { types, default: `./dist/${moduleName(types)}.js` },
    ]);
    await writeFile(
      join(made, "package.json"),
      JSON.stringify({ name, type: "module", exports: Object.fromEntries(bundled) }),
    );
    await symlink(join(source, "src"), join(made, "src"));
  });
  return folder;
}

/** `host/agent-host` of `./src/host/agent-host.ts`. */
function moduleName(path: string): string {
  return path.replace(/^\.\/src\/|\.ts$/g, "");
}

async function bundle(input: Readonly<Record<string, string>>, outDir: string): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: { ssr: true, rolldownOptions: { input }, outDir, assetsDir: "", target: "node24" },
  });
}

async function makeOnce(folder: string, make: (made: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  await mkdir(dirname(folder), { recursive: true });
  const made = await mkdtemp(`${folder}new-`);
  await make(made);
  // Another worker of vitest may have been faster; its files are the same.
  await rename(made, folder).catch(() => rm(made, { recursive: true }));
}

/** What npm knows of a package. */
interface Manifest {
  readonly files?: readonly string[];
  readonly exports?: Readonly<Record<string, { readonly types: string }>>;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest; // ours
}

function programsFolder(): string {
  const folder = process.env["A2A_PROGRAMS"];
  if (folder === undefined) throw new Error("A2A_PROGRAMS is not set: vitest's globalSetup does it");
  return folder;
}

function findPackage(file: string): string {
  const folder = dirname(file);
  return existsSync(join(folder, "package.json")) ? folder : findPackage(folder);
}
