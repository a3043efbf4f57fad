// Counts words that hide who does something, in comments of packages/*/src and in docs. Fails above the number left.
//
//   node scripts/plain-words.mjs [--list]
//
// --list names each place. Write the noun instead: the caller, the server, no caller, any wire. In docs, fenced blocks
// and generated text do not count: docs/conformance.md, and what is between `<!-- NAME: begin -->` or `<!-- bench NAME -->`
// and the marker of its end.
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseSync } from "vite";

/** How many places there are. Lower the number when you remove some; never raise it. */
const left = 12;

const words = /\b(?:whoever|nobody|somebody|whatever|everybody)\b/gi;
const generated = ["docs/conformance.md"];

const { values: options } = parseArgs({ options: { list: { type: "boolean", default: false } } });
const root = dirname(dirname(fileURLToPath(import.meta.url)));

function findFiles(pattern) {
  return globSync(pattern, { cwd: root }).sort();
}

/** The text with everything but its comments blanked out. Lines stay where they are. */
function keepComments(path, text) {
  const { comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  let kept = "";
  for (const { start, end } of comments)
    kept += blank(text.slice(kept.length, start)) + text.slice(start, end);
  return kept;
}

/** The page without fenced blocks and generated text. Lines stay where they are. */
function keepProse(text) {
  return text
    .replace(/^```[\s\S]*?^```$/gm, blank)
    .replace(/^<!-- (?:\w+: begin|bench \S+) -->[\s\S]*?^<!-- (?:\w+: )?end -->$/gm, blank);
}

function blank(text) {
  return text.replace(/[^\n]/g, " ");
}

function findWords(path, text) {
  return [...text.matchAll(words)].map(({ index, 0: word }) => {
    const line = text.slice(0, index).split("\n").length;
    return `${path}:${line}: ${word}`;
  });
}

const sources = findFiles("packages/*/src/**/*.ts");
const pages = findFiles("docs/**/*.md").filter((path) => !generated.includes(path));
const read = (path) => readFileSync(join(root, path), "utf8");
const found = [
  ...sources.flatMap((path) => findWords(path, keepComments(path, read(path)))),
  ...pages.flatMap((path) => findWords(path, keepProse(read(path)))),
];

if (options.list) for (const place of found) console.log(place);
console.log(
  `${found.length} words that hide who does something (at most ${left}), in ${sources.length} sources and ${pages.length} pages`,
);
if (sources.length === 0 || pages.length === 0) throw new Error("there is nothing to count in");
if (found.length > left) {
  console.error("Write the noun instead. `node scripts/plain-words.mjs --list` names the places.");
  process.exitCode = 1;
} else if (found.length < left) {
  console.log(`Lower \`left\` in scripts/plain-words.mjs to ${found.length}.`);
}
