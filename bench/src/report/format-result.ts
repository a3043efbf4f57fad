import type { ScenarioResult } from "../scenario.ts";
import { formatTable } from "./table.ts";

/** A scenario's figures and what was aimed at, as Markdown. */
export function formatResult({ table, aims }: ScenarioResult): string {
  if (aims.length === 0) {
    return formatTable(table);
  }
  const verdicts = formatTable({
    columns: ["aim", "wanted", "measured", ""],
    rows: aims.map(({ what, aim, measured, verdict }) => [what, aim, measured, verdict]),
  });
  return `${formatTable(table)}\n\n${verdicts}`;
}
