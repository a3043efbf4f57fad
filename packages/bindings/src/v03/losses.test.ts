import { readFileSync } from "node:fs";
import { formatMessage, parseMessage, startWalk } from "@a2a-connect/core/internal";
import { GetTaskRequestSchema } from "@a2a-connect/proto/a2a/v1";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createForms, type Dialect, type Forms } from "./forms.ts";

const page = readFileSync(new URL("../../../../docs/versions.md", import.meta.url), "utf8");

const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "a" }] };
const older = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "a" }] };
const content = [{ text: "a" }];

/** What 1.0 has and 0.3 has not: a row of docs/versions.md, and what is written. */
const toOlder: readonly [
  row: string,
  dialect: Dialect,
  form: keyof Forms,
  before: JsonObject,
  after: object,
][] = [
  [
    "media type or filename of a text part",
    "json",
    "message",
    { ...message, parts: [{ text: "a", mediaType: "text/html", filename: "f" }] },
    older,
  ],
  [
    "media type or filename of a data part",
    "json",
    "message",
    { ...message, parts: [{ data: { a: 1 }, mediaType: "application/json", filename: "f" }] },
    { ...older, parts: [{ kind: "data", data: { a: 1 } }] },
  ],
  [
    "data that is no object",
    "json",
    "message",
    { ...message, parts: [{ data: [1], metadata: { b: 2 } }] },
    { ...older, parts: [{ kind: "data", data: { value: [1] }, metadata: { b: 2, data_part_compat: true } }] },
  ],
  [
    "`referenceTaskIds`, over HTTP+JSON and gRPC",
    "proto",
    "message",
    { ...message, referenceTaskIds: ["t"] },
    { messageId: "m", role: "ROLE_USER", content },
  ],
];

/** What 0.3 has and 1.0 has not. */
const toCurrent: readonly [row: string, form: keyof Forms, before: object, after: object][] = [
  [
    "authentication schemes of a webhook after the first",
    "pushConfig",
    {
      taskId: "t",
      pushNotificationConfig: { id: "c", url: "u", authentication: { schemes: ["Bearer", "Basic"] } },
    },
    { taskId: "t", id: "c", url: "u", authentication: { scheme: "Bearer" } },
  ],
  [
    "metadata of `tasks/get` and `tasks/resubscribe`",
    "getTaskRequest",
    { id: "t", metadata: { a: 1 } },
    { id: "t" },
  ],
  ["members that 0.3 does not have", "message", { ...older, other: 1 }, message],
];

describe("what is lost", () => {
  for (const [row, dialect, form, before, after] of toOlder) {
    it(`on the way to 0.3: ${row}`, () => {
      expect(page).toContain(`| ${row} |`);
      expect(createForms(dialect)[form].toOlder(before)).toEqual(after);
    });
  }
  it("on the way to 0.3: `historyLength: 0`, over gRPC", () => {
    expect(page).toContain("| `historyLength: 0`, over gRPC |");
    const request = createForms("proto").getTaskRequest.toOlder({ id: "t", historyLength: 0 });
    const message = parseMessage(GetTaskRequestSchema, request);
    expect(formatMessage(GetTaskRequestSchema, message)).toEqual({ name: "tasks/t" });
  });
  for (const [row, form, before, after] of toCurrent) {
    it(`on the way to 1.0: ${row}`, () => {
      expect(page).toContain(`| ${row} |`);
      expect(createForms("json")[form].toCurrent(before, startWalk())).toEqual(after);
    });
  }
});
