import { ListTasksResponseSchema } from "@a2a-connect/proto";
import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { readFrames } from "./framing.ts";
import type { RawAnswer } from "./raw-call.ts";
import { type Expected, findProblem, serveTarget } from "./target.ts";
import { encodeCall, isFramed, type MethodName, type Wire, wires } from "./wires.ts";

const target = serveTarget();

type Row = readonly [
  title: string,
  json: Readonly<Record<string, unknown>>,
  /** The field that is wrong, or what else is. */
  expected: string | Expected,
  method?: MethodName,
];

function invalid(field: string): Expected {
  return { error: "invalidParams", field };
}

/** Requirements, C-1, K-6. */
const rows: readonly Row[] = [
  ["a pageSize of 0", { pageSize: 0 }, "pageSize"],
  ["a pageSize of -1", { pageSize: -1 }, "pageSize"],
  ["a pageSize of 101", { pageSize: 101 }, "pageSize"],
  ["a pageSize of 2^31-1", { pageSize: 2_147_483_647 }, "pageSize"],
  ["a pageSize of -2^31", { pageSize: -2_147_483_648 }, "pageSize"],
  ["a negative historyLength", { historyLength: -5 }, "historyLength"],
  ["a negative historyLength for one task", { id: "t", historyLength: -1 }, "historyLength", "GetTask"],
  ["an unknown task", { id: "nope" }, { error: "taskNotFound" }, "GetTask"],
  ["a prototype's name for a task", { id: "__proto__" }, { error: "taskNotFound" }, "GetTask"],
  ["an unknown status by number", { status: 99 }, "status"],
  ["a negative status", { status: -1 }, "status"],
  ["a page token of rubbish", { pageToken: "rubbish" }, "pageToken"],
  ["a page token that is no base64", { pageToken: "%00 \u{1f600}" }, "pageToken"],
  ["a page token of JSON of somebody's own", { pageToken: btoa('["x",0,"t"]') }, "pageToken"],
  ["a page token of deep JSON", { pageToken: btoa("[".repeat(5_000)) }, "pageToken"],
  ["a page token of invalid UTF-8", { pageToken: btoa("\xff\xfe") }, "pageToken"],
];

/** What protobuf has no way to say. */
const jsonRows: readonly Row[] = [
  ["a pageSize of 2^31", { pageSize: 2 ** 31 }, "pageSize"],
  ["a pageSize of 10^300", { pageSize: 1e300 }, "pageSize"],
  ["half a pageSize", { pageSize: 1.5 }, "pageSize"],
  ["a word for a pageSize", { pageSize: "abc" }, "pageSize"],
  ["true for a pageSize", { pageSize: true }, "pageSize"],
  ["a historyLength of 2^31", { historyLength: 2 ** 31 }, "historyLength"],
  ["a word for the historyLength of one task", { id: "t", historyLength: "all" }, "historyLength", "GetTask"],
  ["an unknown status by name", { status: "TASK_STATE_RUNNING" }, "status"],
  ["a word for a time", { statusTimestampAfter: "yesterday" }, "statusTimestampAfter"],
  ["the 30th of February", { statusTimestampAfter: "2026-02-30T00:00:00Z" }, "statusTimestampAfter"],
  ["a word for includeArtifacts", { includeArtifacts: "maybe" }, "includeArtifacts"],
];

for (const wire of wires) {
  describe(`a bad question over ${wire.name}`, () => {
    for (const [title, json, expected, method = "ListTasks"] of [
      ...rows,
      ...(wire.codec === "json" ? jsonRows : []),
    ]) {
      it(`is refused: ${title}`, async () => {
        const call = encodeCall(wire, { method, json: JSON.stringify(json) });
        await target.refuses(wire, call, typeof expected === "string" ? invalid(expected) : expected);
      });
    }
  });

  describe(`a page token over ${wire.name}`, () => {
    const list = (json: object) => encodeCall(wire, { method: "ListTasks", json: JSON.stringify(json) });

    it("is good for its own list, and refused for another filter, tenant or when it was altered (A-48)", async () => {
      const contextId = `paging-${wire.name}`;
      for (const messageId of ["m-1", "m-2"]) {
        const message = { messageId, contextId, role: "ROLE_USER", parts: [{ text: "task paging" }] };
        const json = JSON.stringify({ message, tenant: "acme" });
        await target.send(encodeCall(wire, { method: "SendMessage", json }));
      }
      const filters = { tenant: "acme", contextId, pageSize: 1 };
      const pageToken = readNextPageToken(wire, await target.send(list(filters)));
      expect(pageToken).not.toBe("");
      expect(findProblem(wire, await target.send(list({ ...filters, pageToken })))).toBeUndefined();
      for (const foreign of [
        { ...filters, tenant: "globex" },
        { ...filters, contextId: "another" },
        { ...filters, status: 3 },
        { ...filters, statusTimestampAfter: "2020-01-01T00:00:00Z" },
      ]) {
        await target.refuses(wire, list({ ...foreign, pageToken }), invalid("pageToken"));
      }
      const altered = `${pageToken.slice(0, -8)}AAAAAAAA`;
      await target.refuses(wire, list({ ...filters, pageToken: altered }), invalid("pageToken"));
    });
  });

  it(`takes a huge historyLength over ${wire.name}`, async () => {
    const json = '{"historyLength":2147483647}';
    const answer = await target.send(encodeCall(wire, { method: "ListTasks", json }));
    expect(findProblem(wire, answer)).toBeUndefined();
  });
}

function readNextPageToken(wire: Wire, answer: RawAnswer): string {
  const message = isFramed(wire) ? readFrames(answer.body)[0]?.message : answer.body;
  if (wire.codec === "proto") {
    return fromBinary(ListTasksResponseSchema, message ?? new Uint8Array()).nextPageToken;
  }
  const json = JSON.parse(new TextDecoder().decode(message));
  return String((wire.protocol === "jsonrpc" ? json.result : json).nextPageToken);
}
