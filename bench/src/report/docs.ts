import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const page = fileURLToPath(new URL("../../../docs/performance.md", import.meta.url));

/**
 * Puts each text between its markers in docs/performance.md (`<!-- bench NAME -->` … `<!-- end -->`).
 *
 * @throws Error when a marker is missing
 */
export function writeDocs(sections: ReadonlyMap<string, string>): void {
  let text = readFileSync(page, "utf8");
  for (const [name, content] of sections) {
    const begin = `<!-- bench ${name} -->`;
    const start = text.indexOf(begin);
    const end = text.indexOf("<!-- end -->", start);
    if (start === -1 || end === -1) {
      throw new Error(`docs/performance.md has no place for ${name}`);
    }
    text = `${text.slice(0, start + begin.length)}\n${content}\n${text.slice(end)}`;
  }
  writeFileSync(page, text);
}
