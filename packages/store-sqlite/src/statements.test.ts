import { DatabaseSync } from "node:sqlite";
import { TaskState } from "@a2a-connect/proto";
import { alice } from "@a2a-connect/testing";
import { expect, it, onTestFinished, vi } from "vitest";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

/** Statements that may look at more rows than they give, or sort what they found, and why. */
const exceptions: readonly (readonly [plan: RegExp, reason: string])[] = [
  [/^SCAN CONSTANT ROW;/, "two subqueries, each the end of an index"],
  [/^SCAN doomed$/, "reads its first row only"],
];

it("finds the rows of every statement by an index, in their order", async () => {
  const statements = await recordStatements();
  expect(statements.length).toBeGreaterThan(40);
  using database = new DatabaseSync(await createFile());
  const plans = statements.map((sql) => [sql, explain(database, sql)] as const);
  expect(
    plans.filter(
      ([, plan]) => /SCAN|TEMP B-TREE/.test(plan) && !exceptions.some(([known]) => known.test(plan)),
    ),
  ).toEqual([]);
  for (const [known, reason] of exceptions) {
    expect(
      plans.map(([, plan]) => plan).filter((plan) => known.test(plan)),
      reason,
    ).not.toEqual([]);
  }
});

it("finds what is no event without passing the events", async () => {
  const statements = await recordStatements();
  using database = new DatabaseSync(await createFile());
  const plans = statements.map((sql) => explain(database, sql));
  expect(plans.filter((plan) => plan.includes("segments_notes"))).toEqual([
    "SEARCH segments USING INDEX segments_notes (task=? AND (generation,sequence)>(?,?))",
  ]);
});

it("finds the due deliveries of one task among those of this task", async () => {
  const statements = (await recordStatements()).filter((sql) => /from push_configs\s.*task = \?/s.test(sql));
  expect(statements.some((sql) => sql.includes("deliveries.number in"))).toBe(true);
  using database = new DatabaseSync(await createFile());
  expect(statements.filter((sql) => explain(database, sql).includes("deliveries_due"))).toEqual([]);
});

/** Everything that a store prepares for the newest schema, lists with all filters and none included. */
async function recordStatements(): Promise<readonly string[]> {
  const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
  onTestFinished(() => prepare.mockRestore());
  const store = createSqliteTaskStore({ file: ":memory:" });
  const base = { owner: alice, limit: 1, maxBytes: 1, view: "head" } as const;
  for (const contextId of [undefined, "context-1"]) {
    for (const state of [undefined, TaskState.WORKING, TaskState.COMPLETED]) {
      for (const since of [undefined, 0]) {
        for (const after of [undefined, { statusTimestamp: 1, taskId: "a" }])
          await store.list({ ...base, contextId, state, since, after });
      }
    }
  }
  await store.close();
  const statements = prepare.mock.calls.map(([sql]) => sql);
  prepare.mockRestore();
  return statements.filter(
    (sql) => /^\s*(select|update|delete|insert)/.test(sql) && !/from (sqlite_schema|entries)\b/.test(sql),
  );
}

async function createFile(): Promise<string> {
  const file = temporaryFile();
  await createSqliteTaskStore({ file }).close();
  return file;
}

function explain(database: DatabaseSync, sql: string): string {
  const steps = database.prepare(`explain query plan ${sql}`).all();
  return steps.map(({ detail }) => String(detail)).join("; ");
}
