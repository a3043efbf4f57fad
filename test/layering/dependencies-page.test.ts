// docs/dependencies.md names every library that the manifests name, with the packages that use it, and no other.

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readWorkspace } from "./workspace.ts";

const page = readFileSync(new URL("../../docs/dependencies.md", import.meta.url), "utf8");
const { packages, rootTools } = readWorkspace();
const own = new Set(packages.map(({ name }) => name));
const isPublished = ({ folder }: { readonly folder: string }) => /^(gen$|packages\/)/.test(folder);

/** The rows of the table below a heading, as lists of cells. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const [, section = ""] = page.split(`## ${heading}\n`);
  const [table = ""] = section.split("\n## ");
  return [...table.matchAll(/^\| (`.*|of Python.*) \|$/gm)].map(([, row = ""]) => row.split(" | "));
}

const namesIn = (cell = ""): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

/** Who uses each library at run time, as the manifests say. */
function readUsers(): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const { room, dependencies, peerDependencies } of packages.filter(isPublished)) {
    for (const name of [...dependencies, ...peerDependencies]) {
      if (!own.has(name)) users.set(name, [...(users.get(name) ?? []), room]);
    }
  }
  return users;
}

it("says who uses each library at run time", () => {
  const rows = rowsBelow("At run time").flatMap(([names, users = ""]) =>
    namesIn(names).map((name) => [name, users] as const),
  );
  const said = new Map(rows.filter(([name]) => !name.startsWith("node:")));
  const users = readUsers();
  expect([...said.keys()].sort()).toStrictEqual([...users.keys()].sort());
  for (const [name, rooms] of users) {
    if (said.get(name) !== "all") expect(said.get(name), name).toBe(rooms.sort().join(", "));
  }
});

it("says what each library is for that builds and tests", () => {
  const runtime = readUsers();
  const developed = new Set([
    ...rootTools,
    ...packages.flatMap((each) => [
      ...each.devDependencies,
      ...(isPublished(each) ? [] : [...each.dependencies, ...each.peerDependencies]),
    ]),
  ]);
  const tools = [...developed].filter((name) => !own.has(name) && !runtime.has(name));
  const isOnNpm = (row: readonly string[]) => row[0]?.startsWith("`");
  const said = rowsBelow("To build and test")
    .filter(isOnNpm)
    .flatMap(([names]) => namesIn(names));
  expect(said.filter((name) => !runtime.has(name)).sort()).toStrictEqual(tools.sort());
});
