import { readFileSync, writeFileSync } from "node:fs";

/** One line of the report in docs/reliability.md. */
export interface ReportRow {
  /** What was done, and what was looked for. Names the row. */
  readonly fault: string;
  /** How often, with its unit: "240 kills". */
  readonly times: string;
  /** What was compared afterwards, with its unit. */
  readonly compared: string;
}

/** Whether this run is the long one. */
export const isLong: boolean = process.env["A2A_LONG"] === "1";

const page = new URL("../../docs/reliability.md", import.meta.url);
const table = /(<!-- faults: begin -->\n)([\s\S]*?)(<!-- faults: end -->)/;
const head = "| fault | how often | compared |\n| --- | --- | --- |\n";

/**
 * Says what a part of the suite came to, and writes that into docs/reliability.md when the run was asked for it
 * (`pnpm report:faults`, which runs one file after the other).
 */
export function report(row: ReportRow): void {
  console.log(`faults: ${row.fault}: ${row.times}, ${row.compared}`);
  if (process.env["A2A_REPORT"] === "1") {
    const text = readFileSync(page, "utf8");
    if (!table.test(text)) throw new Error("docs/reliability.md has no place for the report");
    writeFileSync(
      page,
      text.replace(table, (_, begin: string, rows: string, end: string) => begin + setRow(rows, row) + end),
    );
  }
}

/** A number as a report shows it. */
export function count(number: number, unit: string): string {
  return `${number.toLocaleString("en")} ${unit}`;
}

function setRow(rows: string, { fault, times, compared }: ReportRow): string {
  const others = rows
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| fault |") && !line.startsWith("| --- |"))
    .filter((line) => !line.startsWith(`| ${fault} |`));
  return `${head}${[...others, `| ${fault} | ${times} | ${compared} |`].toSorted().join("\n")}\n`;
}
