import { gunzipSync } from "node:zlib";
import {
  GetTaskRequestSchema,
  StreamResponseSchema,
  SubscribeToTaskRequestSchema,
  TaskSchema,
} from "@a2a-connect/proto";
import { create, fromBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { createFakeService, fakeTask } from "../../test-support/fake-service.ts";
import { codingHeaders, isBare, readRaw, rpcWires, sendRaw } from "../../test-support/raw-rpc.ts";
import { createRpcHandlers } from "./handlers.ts";

const long = "x".repeat(2_000);
const calls = [
  { method: "getTask", request: create(GetTaskRequestSchema, { id: long }) },
  { method: "subscribeToTask", request: create(SubscribeToTaskRequestSchema, { id: long }) },
] as const;
const handlers = createRpcHandlers(
  createFakeService({ getTask: ({ id }) => fakeTask({ id: id === "" ? long : id }) }),
  { compressions: [compressionGzip, compressionBrotli] },
);

for (const wire of rpcWires) {
  for (const operation of calls) {
    const { encoding, accept } = codingHeaders({ wire, ...operation });
    const idOf = (message: Uint8Array): string | undefined => {
      if (operation.method === "getTask") {
        return fromBinary(TaskSchema, message).id;
      }
      const { payload } = fromBinary(StreamResponseSchema, message);
      return payload.case === "task" ? payload.value.id : undefined;
    };

    describe(`${operation.method} over ${wire}`, () => {
      it("takes a compressed message, and answers in kind without being asked", async () => {
        const compress = (message: Uint8Array) => compressionGzip.compress(message);
        const call = { wire, ...operation, header: { [encoding]: "gzip" }, compress };
        const response = await sendRaw(handlers, call);
        expect(response.header?.get(encoding)).toBe("gzip");
        const { messages, error } = await readRaw(call, response);
        expect(error).toBeUndefined();
        expect(idOf(gunzipSync(messages[0] ?? new Uint8Array()))).toBe(long);
      });

      it("compresses what is long enough, when the caller takes it", async () => {
        const call = { wire, ...operation, header: { [accept]: "zstd, gzip" } };
        const response = await sendRaw(handlers, call);
        expect(response.header?.get(encoding)).toBe("gzip");
        const { messages, flags } = await readRaw(call, response);
        if (!isBare(call)) {
          expect(flags).toEqual(operation.method === "getTask" ? [1] : [1, 0, 0]); // short ones are left alone
        }
        expect(idOf(gunzipSync(messages[0] ?? new Uint8Array()))).toBe(long);
      });

      it("compresses nothing for a caller that takes nothing of ours", async () => {
        for (const header of [{}, { [accept]: "identity" }, { [accept]: "zstd" }]) {
          const call = { wire, ...operation, header };
          const response = await sendRaw(handlers, call);
          expect(response.header?.has(encoding)).toBe(false);
          expect(idOf((await readRaw(call, response)).messages[0] ?? new Uint8Array())).toBe(long);
        }
      });

      it("refuses what is not of its coding, and what unpacks to too much", async () => {
        const header = { [encoding]: "gzip" };
        const broken = { wire, ...operation, header, compress: async (message: Uint8Array) => message };
        expect((await readRaw(broken, await sendRaw(handlers, broken))).error?.code).toBe(
          Code.InvalidArgument,
        );
        const small = createRpcHandlers(createFakeService(), {
          compressions: [compressionGzip],
          maxBodyBytes: 1_000,
        });
        const bomb = { ...broken, compress: (message: Uint8Array) => compressionGzip.compress(message) };
        expect((await readRaw(bomb, await sendRaw(small, bomb))).error?.code).toBe(Code.ResourceExhausted);
      });
    });
  }
}
