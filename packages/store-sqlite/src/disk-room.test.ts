import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { hasSmallDisks, startStore } from "../test-support/store-child.ts";
import { temporaryFile } from "../test-support/temporary-file.ts";

const mebibyte = 1024 * 1024;

const skip = !hasSmallDisks();

/** What the scripts below use. */
const tools = `
  import { appendFileSync, cpSync, existsSync, rmSync, statSync, writeFileSync } from "node:fs";

  /** Stores a task that has finished. Returns "stored", or the code of the error. */
  const finish = (to, taskId, bytes) =>
    to
      .commit(createCommit({ taskId, kinds: ["task", "artifact", "status"], state: 3, at: 10, text: "x".repeat(bytes) }))
      .then(() => "stored", ({ code }) => code);

  /** Fills the disk with another file. */
  function fill(filler) {
    writeFileSync(filler, "");
    try {
      for (;;) appendFileSync(filler, Buffer.alloc(4_096));
    } catch {}
  }

  /** What a killed process would leave behind. */
  function leaveBehind(file, copy) {
    for (const end of ["", "-wal", "-open"]) {
      if (existsSync(file + end)) cpSync(file + end, copy + end);
    }
  }
`;

describe("a disk that is full", () => {
  for (const [what, bytes, atOnce] of [
    ["small", 3_000, 20],
    ["medium", 200_000, 10],
    ["large", 3_000_000, 1],
  ] as const) {
    it(`has room again when ${what} tasks that fill it are removed, every time`, {
      timeout: 60_000,
      skip,
      meta: { skipReason: "no right to mount a small disk" },
    }, async () => {
      const file = temporaryFile();
      const { ended } = startStore(
        { file, diskBytes: 40 * mebibyte },
        `${tools}
        for (let round = 0; round < 3; round += 1) {
          let stored = 0;
          let refused = 0;
          while (refused < 30) {
            const ids = Array.from({ length: ${atOnce} }, (_, at) => [round, stored, refused, at].join("-"));
            const results = await Promise.all(ids.map((id) => finish(store, id, ${bytes})));
            for (const result of results) {
              if (result === "stored") stored += 1;
              else if (result === ${Code.Unavailable}) refused += 1;
              else throw new Error("refused with " + result);
            }
          }
          while (await store.expire({ finishedBefore: 100, now: 100, limit: 500 }));
          console.log(stored * ${bytes});
        }
        `,
      );
      const stored = (await ended).map(Number);
      expect(stored).toHaveLength(3);
      expect(Math.min(...stored)).toBeGreaterThan(5 * mebibyte);
    });
  }

  it("lets a store be opened and read, and takes tasks when there is room again", {
    skip,
    meta: { skipReason: "no right to mount a small disk" },
  }, async () => {
    const file = temporaryFile();
    const { ended } = startStore(
      { file, diskBytes: 32 * mebibyte },
      `${tools}
      const { file, filler, killed, again } = ${JSON.stringify({ file, filler: `${file}.filler`, killed: `${file}.killed`, again: `${file}.again` })};
      const read = async (from) => (await from.find(alice, "one", "full"))?.tail.sequence;
      await finish(store, "one", 300_000);
      leaveBehind(file, killed);
      await store.close();

      fill(filler);
      const found = [];
      const ofKilled = createSqliteTaskStore({ file: killed });
      found.push(await read(ofKilled), await finish(ofKilled, "two", 300_000));
      await ofKilled.close();
      let time = 0;
      const opened = createSqliteTaskStore({ file, now: () => time });
      found.push(await read(opened), await finish(opened, "two", 300_000));

      rmSync(filler);
      leaveBehind(file, again);
      const afterKill = createSqliteTaskStore({ file: again });
      found.push(await read(afterKill), await finish(afterKill, "two", 300_000));
      await afterKill.close();
      found.push(await finish(opened, "two", 300_000));
      time += 1_000;
      found.push(await finish(opened, "three", 300_000), existsSync(file + "-open"));
      await opened.close();
      console.log(JSON.stringify(found));
      `,
    );
    const [found = ""] = await ended;
    expect(JSON.parse(found)).toEqual([
      ...[3, Code.Unavailable], // what a killed process left
      ...[3, Code.Unavailable], // what was closed
      ...[3, "stored"], // opened on the full disk, then killed
      ...["stored", "stored", true],
    ]);
  });

  it("takes no write now and then: only a removal gets the space of the log", {
    skip,
    meta: { skipReason: "no right to mount a small disk" },
  }, async () => {
    const file = temporaryFile();
    const { ended } = startStore(
      { file, diskBytes: 32 * mebibyte },
      `${tools}
      for (let task = 0; task < 20; task += 1) await finish(store, "moved " + task, 3_000);
      await store.close(); // which moves the log into the file
      let time = 0;
      const opened = createSqliteTaskStore({ file: ${JSON.stringify(file)}, now: () => time });
      while (await opened.expire({ finishedBefore: 100, now: 100, limit: 500 }));
      for (let task = 0; task < 5; task += 1) await finish(opened, "task " + task, 3_000);
      fill(${JSON.stringify(`${file}.filler`)});
      const found = [];
      for (let second = 0; second < 3; second += 1) {
        found.push(await finish(opened, "late " + second, 10));
        time += 1_000;
      }
      while (await opened.expire({ finishedBefore: 100, now: 100, limit: 500 }));
      found.push(await finish(opened, "after", 10));
      await opened.close();
      console.log(JSON.stringify(found));
      `,
    );
    const [found = ""] = await ended;
    expect(JSON.parse(found)).toEqual([...Array(3).fill(Code.Unavailable), "stored"]);
  });
});
