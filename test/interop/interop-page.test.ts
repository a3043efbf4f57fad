// docs/interop.md says which versions are tried, and what their deviations are, as the files do that decide it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { deviations } from "./peers/deviations.ts";
import { root } from "./peers/languages.ts";

const page = readFileSync(join(root, "docs/interop.md"), "utf8");

it("lists every deviation of a peer, and no other", () => {
  const rows = deviations.map(({ peer, role, bindings, why, evidence }) =>
    [`${peer}, ${role}`, bindings.length === 3 ? "all" : bindings.join(", "), why, evidence].join(" | "),
  );
  const listed = /<!-- deviations -->\n([\s\S]*?)<!-- end -->/.exec(page)?.[1];
  const head = "| peer | over | it … | seen |\n| --- | --- | --- | --- |\n";
  expect(listed).toBe(`${head}${rows.map((row) => `| ${row} |\n`).join("")}`);
});

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
