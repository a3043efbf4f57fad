import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const root = new URL("../../", import.meta.url);
const files = globSync("{packages,examples,bench,test}/**/*.{ts,tsx}", {
  cwd: root.pathname,
  exclude: ["**/node_modules"],
});

it("the page on the architecture names only files that there are", () => {
  const page = readFileSync(new URL("docs/architecture.md", root), "utf8");
  const named = new Set([...page.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = ""]) => path));
  expect(named.size).toBeGreaterThan(50);
  const known = files.flatMap((path) => [`/${path}`, `/${path.replace("/src/", "/")}`]);
  expect([...named].filter((path) => !known.some((file) => file.endsWith(`/${path}`)))).toEqual([]);
});

it("the map names only files and folders that there are, below the folder in the heading of their table", () => {
  const map = readFileSync(new URL("AGENTS.md", root), "utf8").split("\n## ")[2] ?? "";
  const named = map.split("\n### ").flatMap((section) => {
    const folder = /^.*`(packages\/\S+)`/.exec(section)?.[1] ?? "";
    const paths = [...section.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, path = ""]) => path);
    return paths.map((path) => ({ folder: path.startsWith("packages/") ? "" : folder, path }));
  });
  expect(named.length).toBeGreaterThan(300);
  const isThere = ({ folder, path }: (typeof named)[number]) =>
    files.some((file) => file.startsWith(folder) && `/${file}/`.includes(`/${path.replace(/\/$/, "")}/`));
  expect(named.filter((each) => !isThere(each))).toEqual([]);
});
