import type { JsonObject } from "@bufbuild/protobuf";

/** Columns of what is shown as a table. */
export const maxColumns = 20;

/** Comma-separated values as rows: the first line has the names. Undefined when the text is no table. */
export function parseCsv(text: string): readonly JsonObject[] | undefined {
  const [names = [], ...lines] = readCsvLines(text);
  if (names.length < 2 || names.length > maxColumns || lines.length === 0) return undefined;
  return lines.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""])));
}

/**
 * A cell and what ends it. The pattern matches at every place and never goes back, so the time is linear for any text: a
 * quoted cell that is not closed ends with the text.
 */
const csvCell = /(?:"([^"]*(?:""[^"]*)*)(?:"|$))?([^,\r\n]*)(,|\r\n?|\n|$)/gy;

function readCsvLines(text: string): string[][] {
  const lines: string[][] = [];
  let cells: string[] = [];
  for (const [, quoted = "", plain = "", end] of text.matchAll(csvCell)) {
    cells.push(quoted.replaceAll('""', '"') + plain);
    if (end === ",") continue;
    if (cells.length > 1 || cells[0] !== "") lines.push(cells);
    cells = [];
  }
  return lines;
}
