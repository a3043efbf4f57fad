import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { createGroupCommit, type GroupCommit } from "./group-commit.ts";

const piece = 512 * 1024;

describe("writes that wait together", () => {
  it("are in the next group when they are small, however many large ones came before them", async () => {
    const { add, groups } = startWrites();
    await Promise.all([...add("large", 9, piece), ...add("small", 2)]);
    expect(groups).toEqual([
      { small: 2, large: 3 },
      { small: 0, large: 3 },
      { small: 0, large: 3 },
    ]);
  });

  it("go on when they are large, however many small ones came before them", async () => {
    const { add, groups } = startWrites();
    await Promise.all([...add("small", 150), ...add("large", 9, piece)]);
    expect(groups).toEqual([
      { small: 64, large: 3 },
      { small: 64, large: 3 },
      { small: 22, large: 3 },
    ]);
  });

  it("share the bytes of a group, but a large one goes on in each", async () => {
    const { add, groups } = startWrites();
    await Promise.all([...add("large", 4, piece), ...add("small", 40, 60 * 1024)]);
    expect(groups).toEqual([
      { small: 18, large: 1 },
      { small: 18, large: 1 },
      { small: 4, large: 2 },
    ]);
  });

  it("keep the order of the calls among those of their size", async () => {
    const { writes } = startWrites();
    const done: string[] = [];
    const add = (name: string, bytes: number) => writes.run({ bytes, write: () => done.push(name) });
    await Promise.all([add("piece 1", piece), add("a", 0), add("piece 2", piece), add("b", 9)]);
    expect(done).toEqual(["a", "b", "piece 1", "piece 2"]);
  });

  it("are of the callers in turn, large ones, too", async () => {
    const { writes } = startWrites();
    const done: string[] = [];
    const add = (share: string, count: number, bytes: number) =>
      Array.from({ length: count }, () => writes.run({ bytes, share, write: () => done.push(share) }));
    for (const bytes of [0, piece]) {
      await Promise.all([...add("many", 100, bytes), ...add("few", 2, bytes)]);
      expect(done.splice(0).slice(0, 4)).toEqual(["many", "few", "many", "few"]);
    }
  });

  it("are all committed when the store closes", async () => {
    const { writes, add, groups } = startWrites();
    const added = [...add("large", 4, piece), ...add("small", 1)];
    writes.close();
    expect(groups).toEqual([
      { small: 1, large: 3 },
      { small: 0, large: 1 },
    ]);
    await Promise.all(added);
  });
});

describe("a steady load of large and small writes", () => {
  it("has both in each group", async () => {
    const { add, groups } = startWrites();
    const goOn = async (kind: Kind, bytes?: number): Promise<void> => {
      for (let at = 0; at < 5; at += 1) await Promise.all(add(kind, 1, bytes));
    };
    await Promise.all([
      ...Array.from({ length: 3 }, () => goOn("large", piece)),
      ...Array.from({ length: 64 }, () => goOn("small")),
    ]);
    expect(groups).toEqual(Array.from({ length: 5 }, () => ({ small: 64, large: 3 })));
  });
});

type Kind = "small" | "large";

interface Started {
  readonly writes: GroupCommit;
  readonly add: (kind: Kind, count: number, bytes?: number) => readonly Promise<unknown>[];
  /** How many writes of each kind were in each transaction. */
  readonly groups: readonly Record<Kind, number>[];
}

function startWrites(): Started {
  const database = new DatabaseSync(":memory:");
  onTestFinished(() => database.close());
  const groups: Record<Kind, number>[] = [];
  const writes = createGroupCommit(database, () => groups.push({ small: 0, large: 0 }));

  function count(kind: Kind): void {
    const group = groups.at(-1) ?? expect.fail("there is a transaction");
    group[kind] += 1;
  }

  const add: Started["add"] = (kind, calls, bytes = 0) =>
    Array.from({ length: calls }, () => writes.run({ bytes, write: () => count(kind) }));
  return { writes, add, groups };
}
