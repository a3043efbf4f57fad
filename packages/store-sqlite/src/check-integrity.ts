import type { DatabaseSync } from "node:sqlite";
import { whatToDo } from "./file-guard.ts";
import { prepareQuery } from "./query.ts";
import { dataLoss, isDamage } from "./store-failure.ts";

/**
 * Tests whether the pages of each table and its indexes are consistent (`pragma quick_check`): 0.7 s of CPU time a GiB,
 * besides reading the file.
 *
 * @param maxBytes size up to which the whole file is tested; a larger file is not
 * @throws ConnectError `DataLoss` naming the tables that are damaged
 */
export function checkIntegrity(database: DatabaseSync, maxBytes: number): void {
  const { page_count: pages = 0 } = database.prepare("pragma page_count").get() ?? {};
  const { page_size: pageSize = 0 } = database.prepare("pragma page_size").get() ?? {};
  if (Number(pages) * Number(pageSize) > maxBytes) return;
  const tables = prepareQuery<{ readonly name: string }>(
    database,
    "select name from sqlite_schema where type = 'table'",
  );
  const damaged = tables.all().flatMap(({ name }) => (isSound(database, name) ? [] : [name]));
  if (damaged.length > 0) {
    throw dataLoss(`it is damaged: some or all of ${damaged.join(", ")} is lost; ${whatToDo}`);
  }
}

function isSound(database: DatabaseSync, table: string): boolean {
  try {
    return database.prepare(`pragma quick_check(${JSON.stringify(table)})`).get()?.["quick_check"] === "ok";
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}
