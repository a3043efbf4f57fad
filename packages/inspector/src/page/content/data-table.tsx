import { isObject } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { maxColumns } from "./parse-csv.ts";
import { shownLine } from "./shown.ts";

const pageLength = 50;

/** The rows of a value that is a table: a list of objects with few names and plain values. Undefined for all others. */
export function findRows(value: JsonValue): readonly JsonObject[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const names = new Set<string>();
  for (const row of value) {
    if (!isObject(row)) return undefined;
    for (const [name, cell] of Object.entries(row)) {
      if (typeof cell === "object" && cell !== null) return undefined;
      names.add(name);
      if (names.size > maxColumns) return undefined;
    }
  }
  return names.size === 0 ? undefined : (value as JsonObject[]); // every element was an object
}

/** Rows with a column for each name. */
export function DataTable({ rows }: { readonly rows: readonly JsonObject[] }): JSX.Element {
  const count = useSignal(pageLength);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name}>{shownLine(name, 60)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, count.value).map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <td key={name} class={typeof row[name] === "number" ? "is-number" : ""}>
                  {row[name] === undefined ? "" : shownLine(String(row[name]), 300)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > count.value ? (
        <button
          type="button"
          class="link"
          onClick={() => {
            count.value += 10 * pageLength;
          }}
        >
          {rows.length - count.value} more rows
        </button>
      ) : null}
    </div>
  );
}
