// `pnpm report:bundles`: measures what a browser has to load, and writes it into docs/comparison.md.
import { readFile, writeFile } from "node:fs/promises";
import { measureEntries, renderSizes, replaceSizes } from "./size-table.ts";

const page = new URL("../../docs/comparison.md", import.meta.url);
const table = renderSizes(await measureEntries());
await writeFile(page, replaceSizes(await readFile(page, "utf8"), table));
process.stdout.write(`${table}\n`);
