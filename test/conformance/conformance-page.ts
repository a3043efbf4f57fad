import { readFileSync } from "node:fs";
import { isBinding, type Place, requirementGroups, wires } from "@a2a-connect/conformance";
import type { Coverage } from "./coverage.ts";

/** The page that says what is tested. */
export const pageUrl = new URL("../../docs/conformance.md", import.meta.url);

const begin = "<!-- begin generated: vitest run test/conformance/coverage.test.ts -u -->";
const end = "<!-- end generated -->";

/** The page as it should be: what is written by hand stays, what is between the markers is made anew. */
export function renderPage(coverage: readonly Coverage[]): string {
  const page = readFileSync(pageUrl, "utf8");
  const [head, rest] = split(page, begin);
  const [, tail] = split(rest, end);
  return `${head}${begin}\n\n${renderTables(coverage)}\n\n${end}${tail}`;
}

function split(text: string, marker: string): [string, string] {
  const at = text.indexOf(marker);
  if (at === -1) {
    throw new Error(`docs/conformance.md has lost its marker: ${marker}`);
  }
  return [text.slice(0, at), text.slice(at + marker.length)];
}

function renderTables(coverage: readonly Coverage[]): string {
  const binding = coverage.filter(({ requirement }) => isBinding(requirement));
  const whole = ({ untested }: Coverage) => untested.length === 0;
  const summary = `${binding.filter(whole).length} of ${binding.length} binding requirements (MUST, AMBIG) and ${
    coverage.filter(whole).length
  } of all ${coverage.length} are tested wherever they apply.`;
  const tables = Object.entries(requirementGroups).map(([letter, title]) => {
    const rows = coverage.filter(({ requirement }) => requirement.id.startsWith(`${letter}-`)).map(renderRow);
    return [
      `## ${letter}. ${title}`,
      "",
      "| id | level | requirement | tested |",
      "| --- | --- | --- | --- |",
      ...rows,
    ].join("\n");
  });
  return [summary, ...tables].join("\n\n");
}

function renderRow({ requirement, files, tested, gap }: Coverage): string {
  const { id, level, of, source, sentence } = requirement;
  const links = [...files].map(
    ([file, count]) => `[${file.replace("scenarios/", "")}](../${pathOf(file)}) (${count})`,
  );
  const where = tested.length === 0 ? [] : [`${links.join(", ")} on ${nameOf(tested)}`];
  const why =
    gap === undefined
      ? []
      : [`Gap${gap.places === undefined ? "" : ` on ${nameOf(gap.places)}`}: ${gap.reason}`];
  const who = of === undefined ? level : `${level}, ${of}`;
  return `| ${id} | ${who} | ${sentence}${renderSource(source)} | ${[...where, ...why].join(". ")} |`;
}

function pathOf(file: string): string {
  return file.startsWith("scenarios/")
    ? `packages/conformance/src/${file}.ts`
    : `test/conformance/${file}.ts`;
}

function renderSource(source: readonly string[]): string {
  const names = source.map((name) => (/^\d/.test(name) ? `§${name}` : name));
  return names.length === 0 ? "" : ` (${names.join(", ")})`;
}

function nameOf(places: readonly Place[]): string {
  return places.length === wires.length ? "all wires" : places.join(", ");
}
