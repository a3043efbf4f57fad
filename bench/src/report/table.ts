/** A table of text; the first column names the row. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** As Markdown, aligned so that it reads well in a terminal too. */
export function formatTable({ columns, rows }: Table): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0))).join(" | ")} |`;
  const rule = `|${widths.map((width, index) => `${"-".repeat(width + 1)}${index === 0 ? "-" : ":"}`).join("|")}|`;
  return [line(columns), rule, ...rows.map(line)].join("\n");
}

/** Three digits that matter, with separators: 12,300 · 123 · 12.3 · 0.123 */
export function formatNumber(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** How many times as much, such as `2.4x`. */
export function formatRatio(value: number): string {
  return `${formatNumber(value)}x`;
}

/** Bytes in MiB or KiB. */
export function formatBytes(bytes: number): string {
  return Math.abs(bytes) >= 2 ** 20
    ? `${formatNumber(bytes / 2 ** 20)} MiB`
    : `${formatNumber(bytes / 2 ** 10)} KiB`;
}
