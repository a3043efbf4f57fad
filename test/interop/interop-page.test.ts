// docs/interop.md says which versions are tried, and what their deviations are, as the files do that decide it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { weightOfScenario } from "@a2a-connect/conformance";
import { expect, it } from "vitest";
import { deviations } from "./peers/deviations.ts";
import { root } from "./peers/languages.ts";
import { type Deviation, piecesOf, reports } from "./reports/reports.ts";

const path = join(root, "docs/interop.md");
const page = readFileSync(path, "utf8");

it("lists every deviation, and no other", async () => {
  const written = { deviations: deviationsTable(), reports: reportTables() };
  let expected = page;
  for (const [name, text] of Object.entries(written)) {
    const block = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- end ${name} -->)`);
    expect(page).toMatch(block);
    expected = expected.replace(block, (_, begin: string, end: string) => begin + text + end);
  }
  await expect(expected).toMatchFileSnapshot(path);
});

/** Of `peers.test.ts`. */
function deviationsTable(): string {
  return tableOf(
    ["peer", "over", "it …", "seen"],
    deviations.map(({ peer, role, bindings, why, evidence }) => [
      `${peer}, ${role}`,
      bindings.length === 3 ? "all" : bindings.join(", "),
      why,
      evidence,
    ]),
  );
}

/** Of `reports.test.ts`. */
function reportTables(): string {
  return Object.entries(reports)
    .map(([name, rows]: readonly [string, readonly Deviation[]]) => {
      const table = tableOf(
        ["requirement", "weight", "over", "demanded: it …", "seen", "why that deviates"],
        rows.map((row) => [
          row.ids.join(", "),
          weightOfScenario(row),
          row.places.length === 3 ? "all" : row.places.join(", "),
          row.title,
          (row.sometimes ? "in some runs: " : "") +
            piecesOf(row)
              .map((piece) => `\`${piece}\``)
              .join(" … "),
          row.because,
        ]),
      );
      return `### ${name}\n\n${table}\n`;
    })
    .join("");
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [
    head,
    head.map(() => "---"),
    ...rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|"))),
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

it.each([
  ["a2a-sdk", "test/interop/python/requirements.txt", /^a2a-sdk\S*==(\S+)/m],
  ["grpcio", "test/interop/python/requirements.txt", /^grpcio==(\S+)/m],
  ["a2a-go", "test/interop/go/go.mod", /a2a-go\/v2 v(\S+)/],
  ["grpc-go", "test/interop/go/go.mod", /google\.golang\.org\/grpc v(\S+)/],
  ["@a2a-js/sdk", "test/package.json", /"@a2a-js\/sdk": "(\S+)"/],
  ["@grpc/grpc-js", "test/package.json", /"@grpc\/grpc-js": "(\S+)"/],
])("says which version of %s is tried", (name, file, pattern) => {
  const version = pattern.exec(readFileSync(join(root, file), "utf8"))?.[1];
  expect(page).toContain(`\`${name}\` ${version}`);
});
