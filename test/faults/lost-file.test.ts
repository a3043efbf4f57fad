import { renameSync } from "node:fs";
import { join } from "node:path";
import { findA2AError } from "@a2a-connect/core";
import { defineAgent, type LogRecord } from "@a2a-connect/server";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { say, startAgentHarness, taskOf, wires } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { temporaryDirectory } from "./agent-process.ts";

it("a database file that is taken away is DATA_LOSS on every wire, and is read on", async () => {
  const file = join(temporaryDirectory(), "tasks.db");
  let now = 0;
  const log: LogRecord[] = [];
  await using harness = await startAgentHarness({
    agent: defineAgent({ card: { name: "Echo" }, execute: (turn) => [turn.artifact({ text: turn.text })] }),
    store: createSqliteTaskStore({ file, now: () => now }),
    log: (record) => void log.push(record),
  });
  const { clients } = harness;
  const { id } = taskOf(await clients.grpc.sendMessage(say("before")));
  renameSync(file, `${file}.taken`);
  now = 1_000;
  for (const wire of wires) {
    const error = ConnectError.from(
      await clients[wire].sendMessage(say("after")).catch((thrown: unknown) => thrown),
    );
    expect([wire, error.code, findA2AError(error)?.reason, error.rawMessage]).toEqual([
      wire,
      Code.DataLoss,
      "DATA_LOSS",
      "the file of the task store was removed or replaced while it was open; nothing was stored",
    ]);
    expect((await clients[wire].getTask({ id })).artifacts).toHaveLength(1);
  }
  expect(log.some(({ error }) => error instanceof ConnectError && String(error.cause).includes(file))).toBe(
    true,
  );
});
