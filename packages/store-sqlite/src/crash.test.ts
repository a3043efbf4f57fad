import { DatabaseSync } from "node:sqlite";
import { findLosses } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { startStore } from "../test-support/store-child.ts";
import { temporaryFile } from "../test-support/temporary-file.ts";
import type { Durability } from "./open-database.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

/** How many acknowledgements each round waits for before it kills: inside the first groups, amid, past a checkpoint. */
const kills = [1, 500, 6_000];

describe("kill -9 in the middle of a storm of commits", () => {
  for (const durability of ["process", "power"] satisfies Durability[]) {
    it(`loses nothing that was acknowledged (durability ${durability})`, { timeout: 60_000 }, async () => {
      const file = temporaryFile();
      const acknowledged: string[] = [];
      for (const [round, count] of kills.entries()) {
        const child = startStore(
          { file, durability },
          `await commitStorm(store, "round-${round}", console.log);`,
        );
        await child.printed(count);
        expect(() => createSqliteTaskStore({ file })).toThrow(
          "another process or another store of this one has it open",
        );
        child.kill();
        acknowledged.push(...(await child.ended));
        const store = createSqliteTaskStore({ file, durability });
        try {
          expect(await findLosses(store, acknowledged)).toEqual([]);
        } finally {
          await store.close();
        }
        using database = new DatabaseSync(file);
        expect({ ...database.prepare("pragma integrity_check").get() }).toEqual({ integrity_check: "ok" });
      }
      expect(acknowledged.length).toBeGreaterThan(6_500);
    });
  }
});
