// The packages that we publish, and how each becomes a tarball.
//
//   node scripts/packages.mjs build           builds the package of the working directory: its `prepack`, so that no tarball is empty
//   node scripts/packages.mjs pack [FOLDER]   builds all packages, and leaves their tarballs in FOLDER (default: tarballs)

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "tsdown";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const runFile = promisify(execFile);

/** These run wherever there are web standards: Node, Bun, Deno, workers, browsers. */
const neutral = new Set(
  ["proto", "core", "bindings", "signing", "auth", "server", "client"].map((name) => `@a2a-connect/${name}`),
);

export function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** The public packages, each with its source file per entry, and what is wrong with its manifest. */
export function findPackages() {
  const rooms = readdirSync(join(root, "packages")).map((name) => join(root, "packages", name));
  return [join(root, "gen"), ...rooms]
    .filter((directory) => existsSync(join(directory, "package.json")))
    .map((directory) => ({ directory, manifest: readJson(join(directory, "package.json")) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(describePackage);
}

function describePackage({ directory, manifest }) {
  const { name } = manifest;
  return { directory, manifest, name, isNeutral: neutral.has(name), ...findEntries(manifest) };
}

/** `{ "lf/a2a/v1/a2a_pb": "./src/lf/a2a/v1/a2a_pb.ts" }`: what to build, by the name that publishConfig promises. */
function findEntries(manifest) {
  const published = manifest.publishConfig?.exports ?? {};
  const entries = {};
  const problems = [];
  const nameOf = (output) => output.replace(/^\.\/dist\/|\.js$/g, "");
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    const output = published[subpath]?.default;
    if (output === undefined) problems.push(`publishConfig.exports lacks "${subpath}"`);
    else entries[nameOf(output)] = typeof target === "string" ? target : target.default;
    const forPages = published[subpath]?.browser;
    if (forPages !== undefined) entries[nameOf(forPages)] = target.browser;
  }
  for (const subpath of Object.keys(published)) {
    if (!(subpath in manifest.exports))
      problems.push(`publishConfig.exports has "${subpath}", exports has not`);
  }
  for (const [command, source] of Object.entries(manifest.bin ?? {})) {
    const output = manifest.publishConfig?.bin?.[command];
    if (output === undefined) problems.push(`publishConfig.bin lacks "${command}"`);
    else entries[nameOf(output)] = source;
  }
  return { entries, problems };
}

async function buildPackage({ directory, isNeutral, entries }) {
  await build({
    cwd: directory,
    entry: entries,
    format: "esm",
    target: "es2024",
    platform: isNeutral ? "neutral" : "node",
    fixedExtension: false, // .js, as the exports map says: the packages are ESM
    dts: true,
    sourcemap: true,
    tsconfig: join(directory, "tsconfig.json"),
    clean: true,
    config: false,
    logLevel: "warn",
  });
  const buildPage = join(directory, "build/build-page.ts");
  if (existsSync(buildPage)) await runFile(process.execPath, [buildPage, join(directory, "dist/page")]);
}

/** Builds and packs all packages; returns the tarball of each, by name. */
export async function packAll(packages, destination) {
  rmSync(destination, { recursive: true, force: true });
  mkdirSync(destination, { recursive: true });
  for (const each of packages) await buildPackage(each);
  const filters = packages.flatMap(({ name }) => ["--filter", name]);
  const pnpm = `pnpm@${readJson(join(root, "package.json")).config.pnpm}`;
  const args = ["--yes", pnpm, ...filters, "pack", "--pack-destination", destination];
  await runFile("npx", args, { cwd: root, env: { ...process.env, A2A_PACKAGES_BUILT: "1" } });
  return new Map(
    packages.map(({ name, manifest }) => [
      name,
      join(destination, `${name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`),
    ]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , command, folder = "tarballs"] = process.argv;
  if (command === "build") {
    const directory = process.cwd();
    const isBuilt = process.env.A2A_PACKAGES_BUILT === "1";
    if (!isBuilt) await buildPackage(describePackage({ directory, manifest: readJson("package.json") }));
  } else if (command === "pack") {
    const tarballs = await packAll(findPackages(), resolve(folder));
    for (const tarball of tarballs.values()) console.log(tarball);
  } else {
    console.error("say build or pack");
    process.exitCode = 2;
  }
}
