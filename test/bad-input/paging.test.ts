import { ListTasksResponseSchema } from "@a2a-connect/proto";
import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { readFrames } from "./framing.ts";
import type { RawAnswer } from "./raw-call.ts";
import { type Expected, findProblem, serveTarget } from "./target.ts";
import { encodeCall, isFramed, type MethodName, type Wire, wires } from "./wires.ts";

const target = serveTarget();

interface Row {
  readonly title: string;
  readonly method?: MethodName;
  readonly json: Readonly<Record<string, unknown>>;
  /** There is no such thing in protobuf. */
  readonly jsonOnly?: true;
  readonly expected: Expected;
}

function invalid(field: string): Expected {
  return { error: "invalidParams", field };
}

/** Requirements, C-1, K-6. */
const rows: readonly Row[] = [
  { title: "a pageSize of 0", json: { pageSize: 0 }, expected: invalid("pageSize") },
  { title: "a pageSize of -1", json: { pageSize: -1 }, expected: invalid("pageSize") },
  { title: "a pageSize of 101", json: { pageSize: 101 }, expected: invalid("pageSize") },
  { title: "a pageSize of 2^31-1", json: { pageSize: 2_147_483_647 }, expected: invalid("pageSize") },
  { title: "a pageSize of -2^31", json: { pageSize: -2_147_483_648 }, expected: invalid("pageSize") },
  { title: "a pageSize of 2^31", json: { pageSize: 2 ** 31 }, jsonOnly: true, expected: invalid("pageSize") },
  { title: "a pageSize of 10^300", json: { pageSize: 1e300 }, jsonOnly: true, expected: invalid("pageSize") },
  { title: "half a pageSize", json: { pageSize: 1.5 }, jsonOnly: true, expected: invalid("pageSize") },
  {
    title: "a word for a pageSize",
    json: { pageSize: "abc" },
    jsonOnly: true,
    expected: invalid("pageSize"),
  },
  { title: "true for a pageSize", json: { pageSize: true }, jsonOnly: true, expected: invalid("pageSize") },
  { title: "a negative historyLength", json: { historyLength: -5 }, expected: invalid("historyLength") },
  {
    title: "a historyLength of 2^31",
    json: { historyLength: 2 ** 31 },
    jsonOnly: true,
    expected: invalid("historyLength"),
  },
  {
    title: "a negative historyLength for one task",
    method: "GetTask",
    json: { id: "t", historyLength: -1 },
    expected: invalid("historyLength"),
  },
  {
    title: "a word for the historyLength of one task",
    method: "GetTask",
    json: { id: "t", historyLength: "all" },
    jsonOnly: true,
    expected: invalid("historyLength"),
  },
  { title: "an unknown task", method: "GetTask", json: { id: "nope" }, expected: { error: "taskNotFound" } },
  {
    title: "a prototype's name for a task",
    method: "GetTask",
    json: { id: "__proto__" },
    expected: { error: "taskNotFound" },
  },
  {
    title: "an unknown status by name",
    json: { status: "TASK_STATE_RUNNING" },
    jsonOnly: true,
    expected: invalid("status"),
  },
  { title: "an unknown status by number", json: { status: 99 }, expected: invalid("status") },
  { title: "a negative status", json: { status: -1 }, expected: invalid("status") },
  {
    title: "a word for a time",
    json: { statusTimestampAfter: "yesterday" },
    jsonOnly: true,
    expected: invalid("statusTimestampAfter"),
  },
  {
    title: "the 30th of February",
    json: { statusTimestampAfter: "2026-02-30T00:00:00Z" },
    jsonOnly: true,
    expected: invalid("statusTimestampAfter"),
  },
  {
    title: "a word for includeArtifacts",
    json: { includeArtifacts: "maybe" },
    jsonOnly: true,
    expected: invalid("includeArtifacts"),
  },
  { title: "a page token of rubbish", json: { pageToken: "rubbish" }, expected: invalid("pageToken") },
  {
    title: "a page token that is no base64",
    json: { pageToken: "%00 \u{1f600}" },
    expected: invalid("pageToken"),
  },
  {
    title: "a page token of JSON of somebody's own",
    json: { pageToken: btoa('["x",0,"t"]') },
    expected: invalid("pageToken"),
  },
  {
    title: "a page token of deep JSON",
    json: { pageToken: btoa("[".repeat(5_000)) },
    expected: invalid("pageToken"),
  },
  {
    title: "a page token of invalid UTF-8",
    json: { pageToken: btoa("\xff\xfe") },
    expected: invalid("pageToken"),
  },
];

for (const wire of wires) {
  describe(`a bad question over ${wire.name}`, () => {
    for (const { title, method = "ListTasks", json, jsonOnly, expected } of rows) {
      if (wire.codec === "proto" && jsonOnly) continue;
      it(`is refused: ${title}`, async () => {
        await target.refuses(wire, encodeCall(wire, { method, json: JSON.stringify(json) }), expected);
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
