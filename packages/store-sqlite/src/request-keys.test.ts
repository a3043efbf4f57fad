import { readFileSync, writeFileSync } from "node:fs";
import { MessageSchema } from "@a2a-connect/proto";
import { alice } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

const pageBytes = 4_096;

it("is found without the Message that was kept for it being read", async () => {
  const file = temporaryFile();
  const store = createSqliteTaskStore({ file });
  const key = { key: "one", fingerprint: new Uint8Array([1]) };
  const text = "x".repeat(2 ** 20);
  const reply = create(MessageSchema, { parts: [{ content: { case: "text", value: text } }] });
  await store.putReply(alice, key, reply, 5_000);
  await store.close();
  breakChains(file);
  const damaged = createSqliteTaskStore({ file, maxCheckedBytes: 0 });
  expect(await damaged.findKey(alice, "one")).toEqual({ ...key, result: { kind: "message" } });
  expect(await damaged.putReply(alice, key, reply, 5_000)).toBe(false);
  await expect(damaged.findReply(alice, "one")).rejects.toMatchObject({ code: Code.DataLoss });
  await damaged.close();
});

it("keeps large Messages of callers in turns", async () => {
  const store = createSqliteTaskStore({ file: temporaryFile() });
  const reply = create(MessageSchema, { parts: [{ content: { case: "text", value: "x".repeat(2 ** 20) } }] });
  const kept: string[] = [];
  const keep = async (caller: string, at: number): Promise<void> => {
    const key = { key: `${at}`, fingerprint: new Uint8Array([1]) };
    await store.putReply(alice, key, reply, 5_000, caller);
    kept.push(caller);
  };
  await Promise.all([...Array.from({ length: 10 }, (_, at) => keep("many", at)), keep("one", 10)]);
  expect(kept.indexOf("one")).toBeLessThan(3);
  await store.close();
});

/** Takes from all pages that are full of the Message's text the number of the next one: whoever reads the Message notices. */
function breakChains(file: string): void {
  const bytes = readFileSync(file);
  let broken = 0;
  for (let page = 0; page < bytes.length; page += pageBytes) {
    const isText = bytes.subarray(page + 4, page + pageBytes).every((byte) => byte === 0x78);
    if (!isText) continue;
    bytes.writeUInt32BE(0, page);
    broken += 1;
  }
  expect(broken).toBeGreaterThan(200);
  writeFileSync(file, bytes);
}
