// `pnpm report:bundles`: measures what a browser has to load, and writes it into the README.
import { readFile, writeFile } from "node:fs/promises";
import { measureEntries, renderSizes, replaceSizes } from "./size-table.ts";

const readme = new URL("../../README.md", import.meta.url);
const table = renderSizes(await measureEntries());
await writeFile(readme, replaceSizes(await readFile(readme, "utf8"), table));
process.stdout.write(`${table}\n`);
