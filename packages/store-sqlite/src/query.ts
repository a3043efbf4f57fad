import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** A prepared statement that reads rows of one known type. */
export interface Query<Row> {
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): Row[];
  iterate(...values: SQLInputValue[]): Iterable<Row>;
}

/** Prepares a statement that reads. `Row` has one member for each column, by the column's name. */
export function prepareQuery<Row extends object>(database: DatabaseSync, sql: string): Query<Row> {
  return database.prepare(sql) as unknown as Query<Row>; // STRICT tables: a column holds what its declaration says
}
