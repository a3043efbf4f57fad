// A program of ours and its dependencies in few files: a process that a test starts loads them in a third of the time
// that hundreds of sources take.

import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rename, rm } from "node:fs/promises";
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
  const file = join(folder, "dist", "main.js");
  if (existsSync(file)) return file;
  const made = await mkdtemp(`${folder}new-`);
  await build({
    root,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: true,
      rolldownOptions: { input: { main: entry } },
      outDir: join(made, "dist"),
      assetsDir: "",
      target: "node24",
    },
  });
  const packaged = findPackage(entry);
  const { files = [] } = JSON.parse(await readFile(join(packaged, "package.json"), "utf8")) as {
    files?: readonly string[]; // as npm has it
  };
  for (const path of ["package.json", ...files.filter((each) => each !== "dist")]) {
    await cp(join(packaged, path), join(made, path), { recursive: true });
  }
  // Another worker of vitest may have been faster; its files are the same.
  await rename(made, folder).catch(() => rm(made, { recursive: true }));
  return file;
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
