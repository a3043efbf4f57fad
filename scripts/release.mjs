// Publishes all packages, or says what is missing. One person with an account on npm runs it, or the workflow of a tag:
//
//   pnpm release            does everything but publish: the tarballs are left in tarballs/
//   pnpm release --publish  publishes them with provenance; needs `npm login`, or a workflow that npm trusts
//
// It refuses placeholders in publishing.json, uncommitted changes, changes that no version has yet (.changeset), versions
// that differ, a version without its entry in the changelog, and tarballs without code.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findPackages, packAll, readJson, root } from "./packages.mjs";

const run = (command, ...args) => execFileSync(command, args, { cwd: root, encoding: "utf8" });
const packages = findPackages();
const problems = [];

for (const [field, value] of Object.entries(readJson(join(root, "publishing.json")))) {
  if (/AUTHOR|OWNER|example\.com/.test(String(value)))
    problems.push(`publishing.json: "${field}" is still the placeholder ${value}`);
}
const [version, ...others] = new Set(packages.map(({ manifest }) => manifest.version));
if (others.length > 0)
  problems.push(`the packages have different versions: ${[version, ...others].join(", ")}`);
const changelog = "packages/a2a-connect/CHANGELOG.md";
if (!readFileSync(join(root, changelog), "utf8").includes(`\n## ${version}\n`))
  problems.push(`${changelog} has no entry "## ${version}": run \`pnpm changeset version\``);
const waiting = readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md"));
if (waiting.length > 0)
  problems.push(`${waiting.join(", ")} in .changeset wait for a version: run \`pnpm changeset version\``);
if (run("git", "status", "--porcelain") !== "") problems.push("there are uncommitted changes");
stopIf(problems);

const tarballs = await packAll(packages, join(root, "tarballs"));
for (const [name, tarball] of tarballs) {
  if (!/package\/dist\/\S+\.js/.test(run("tar", "-tzf", tarball)))
    problems.push(`${name}: its tarball has no code`);
}
stopIf(problems);
for (const tarball of tarballs.values()) {
  console.log(tarball);
  if (process.argv.includes("--publish"))
    run("npm", "publish", tarball, "--access", "public", "--provenance");
}
console.log(
  process.argv.includes("--publish")
    ? `published ${version}`
    : `${version} is ready: run it again with --publish`,
);

function stopIf(found) {
  for (const problem of found) console.error(`✗ ${problem}`);
  if (found.length > 0) process.exit(1);
}
