// `pnpm report:bundles`: measures what a browser has to load, and writes it into docs/comparison.md.
import { readFile, writeFile } from "node:fs/promises";
import { measureBundles, renderSizes, replaceSizes } from "./size-table.ts";

const page = new URL("../../docs/comparison.md", import.meta.url);
const tables = renderSizes(await measureBundles());
await writeFile(page, replaceSizes(await readFile(page, "utf8"), tables));
process.stdout.write(`${tables}\n`);
