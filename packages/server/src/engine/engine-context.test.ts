import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { json } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../agent/agent-definition.ts";

const run = promisify(execFile);
const mebibyte = 2 ** 20;

/** What a process with so much heap has as the default of `maxTaskBytes`. */
async function defaultWith(mebibytes: number): Promise<number> {
  const file = JSON.stringify(new URL("./engine-context.ts", import.meta.url));
  const program = `import { defaultEngineLimits } from ${file}; console.log(defaultEngineLimits.maxTaskBytes);`;
  const args = [`--max-old-space-size=${mebibytes}`, "--input-type=module", "--eval", program];
  return Number((await run(process.execPath, args)).stdout);
}

describe("the limit of a task by default", () => {
  it.each([
    [256, 24],
    [2_048, 64],
  ])("is, with an old space of %i MiB, %i MiB", async (heap, expected) => {
    expect(await defaultWith(heap)).toBe(expected * mebibyte);
  });

  it.each([
    ["100,000 numbers", Array.from({ length: 100_000 }, (_, at) => at / 3)],
    [
      "a table of 5,000 rows and 20 columns",
      Array.from({ length: 5_000 }, (_, row) =>
        Array.from({ length: 20 }, (_, column) => `${row}.${column}`),
      ),
    ],
  ])("lets %s through in a message, and back, also with a small heap", async (_, data) => {
    const agent = defineAgent({
      card: { name: "Echo" },
      *execute(turn) {
        yield turn.artifact({ parts: turn.message.parts });
      },
    });
    const { client } = await createEngineHarness({ agent, limits: { maxTaskBytes: 24 * mebibyte } });
    const part = json(data);
    const task = taskOf(await client.sendMessage(say([part])));
    expect(task.status?.state).toBe(TaskState.COMPLETED);
    expect(task.artifacts[0]?.parts).toEqual([part]);
  });
});
