import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const workspace = new URL("../../../", import.meta.url);

/** What the page is bundled from, besides packages with a version, which the lock file names. */
const sources = [
  ...[
    "inspector/src",
    "inspector/build",
    "client/src",
    "conformance/src",
    "signing/src",
    "auth/src",
    "bindings/src",
    "core/src",
  ].map((folder) => `packages/${folder}`),
  "gen/src",
  "pnpm-lock.yaml",
];

/** Builds the page unless a folder has it already whose name says from which state of the sources. Returns the folder. */
export async function buildFromSources(): Promise<URL> {
  const cache = new URL("packages/inspector/.build/", workspace);
  const name = `page-${await stateOfSources()}`;
  const folder = new URL(`${name}/`, cache);
  await mkdir(cache, { recursive: true });
  const built = (await readdir(cache)).filter((each) => each.startsWith("page-"));
  if (built.includes(name)) return folder;
  const made = await mkdtemp(fileURLToPath(new URL("made-", cache)));
  const program = fileURLToPath(new URL("packages/inspector/build/build-page.ts", workspace));
  await promisify(execFile)(process.execPath, [program, made]);
  // Another process may have been faster; its files are the same.
  await rename(made, folder).catch(() => rm(made, { recursive: true }));
  await Promise.all(built.map((each) => rm(new URL(each, cache), { recursive: true, force: true })));
  return folder;
}

/** Changes with every file that is written, added or removed. */
async function stateOfSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const source of sources) {
    const at = new URL(source, workspace);
    const paths = source.includes(".")
      ? [""]
      : (await readdir(at, { recursive: true })).filter((path) => !path.endsWith(".test.ts")).sort();
    const states = await Promise.all(
      paths.map(async (path) => {
        const { mtimeMs, size } = await stat(join(fileURLToPath(at), path));
        return `${source}/${path} ${mtimeMs} ${size}\n`;
      }),
    );
    hash.update(states.join(""));
  }
  return hash.digest("hex").slice(0, 16);
}
