import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A pattern that is one character, or one of several, again and again up to the text's end. */
const trimming = /(?<![/\\\w)\]])\/(?:\\.|\[(?:\\.|[^\]\\\n])+\]|[^/\\^*\n])(?:[+*]|\{\d+,\})\$\/[a-z]*/g;

it("no pattern of the packages looks for the end of a text from each character of a run: that takes quadratic time", () => {
  const files = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root }).filter(
    (path) => !/\.test\.tsx?$/.test(path),
  );
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((path) =>
    (readFileSync(`${root}${path}`, "utf8").match(trimming) ?? []).map((pattern) => `${path}: ${pattern}`),
  );
  expect(found, "use trimEndOf of core").toEqual([]);
});

it("such a pattern is found", () => {
  const lines = [
    'a.replace(/\\/+$/, "")',
    "b.search(/[.\\s]*$/);",
    "c.match(/x{2,}$/g)",
    "d.test(/^ +$/)",
    "e.test(/\\+$/)",
  ];
  expect(lines.map((line) => line.match(trimming)?.[0])).toEqual([
    "/\\/+$/",
    "/[.\\s]*$/",
    "/x{2,}$/g",
    undefined,
    undefined,
  ]);
});
