/** A table of text; the first column names the row. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** As Markdown, aligned so that it reads well in a terminal too: words to the left, figures to the right. */
export function formatTable({ columns, rows }: Table): string {
  const shapes = columns.map((column, index) => {
    const cells = rows.map((row) => row[index] ?? "");
    return {
      width: Math.max(column.length, ...cells.map(({ length }) => length)),
      // The first column is a name, also one that begins with a number.
      isWords: index === 0 || !cells.some((cell) => /^(?:>= )?\d/.test(cell)),
    };
  });
  const formatRow = (cells: readonly string[]) => {
    const padded = shapes.map(({ width, isWords }, index) => {
      const cell = cells[index] ?? "";
      return isWords ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(" | ")} |`;
  };
  const rules = shapes.map(({ width, isWords }) => `${"-".repeat(width + 1)}${isWords ? "-" : ":"}`);
  return [formatRow(columns), `|${rules.join("|")}|`, ...rows.map(formatRow)].join("\n");
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
