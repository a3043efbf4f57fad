import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const root = new URL("../../", import.meta.url);

it("the page on the architecture names only files that there are", () => {
  const page = readFileSync(new URL("docs/architecture.md", root), "utf8");
  const named = new Set([...page.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = ""]) => path));
  expect(named.size).toBeGreaterThan(50);
  const cwd = root.pathname;
  const files = globSync("{packages,examples,bench,test}/**/*.ts", { cwd, exclude: ["**/node_modules"] });
  const known = files.flatMap((path) => [`/${path}`, `/${path.replace("/src/", "/")}`]);
  expect([...named].filter((path) => !known.some((file) => file.endsWith(`/${path}`)))).toEqual([]);
});
