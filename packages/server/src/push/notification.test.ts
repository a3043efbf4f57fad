import {
  PartSchema,
  StreamResponseSchema,
  TaskArtifactUpdateEventSchema,
  type TaskPushNotificationConfig,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import { createCommit, createPushConfig } from "@a2a-connect/testing";
import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import type { LogEvent } from "../store/task-store.ts";
import { createNotification } from "./notification.ts";

const { entries } = createCommit({ kinds: ["task", "status", "artifact"], text: "grüße" });
const events = entries as readonly LogEvent[]; // all three are events

async function notify(changes: Partial<TaskPushNotificationConfig> = {}, event = events[0]) {
  if (event === undefined) throw new Error("there is no such event");
  return createNotification({ ...createPushConfig("task-1", "hook"), ...changes }, event, undefined);
}

describe("a notification", () => {
  for (const event of events) {
    it(`of a ${event.kind} event is a StreamResponse of A2A 1.0, with its id (N-1, N-4)`, async () => {
      const { headers, body } = await notify({}, event);
      expect(body).toHaveLength(1);
      const json = new TextDecoder().decode(body[0]);
      const parsed = fromJson(StreamResponseSchema, JSON.parse(json));
      expect(parsed.payload.value).toMatchObject(
        event.kind === "task" ? { id: "task-1" } : { taskId: "task-1" },
      );
      expect(json).toContain("grüße");
      expect(json).not.toContain("generation");
      expect(headers.get("content-type")).toBe("application/a2a+json");
      expect(headers.get("x-a2a-event-id")).toBe(String(event.generation));
    });
  }

  it("carries the credentials as they were given, and the token (N-2, N-3)", async () => {
    const { headers } = await notify({ token: "a b=c" });
    expect(headers.get("authorization")).toBe("Bearer secret");
    expect(headers.get("x-a2a-notification-token")).toBe("a b=c");
    const own = createPushConfig("task-1", "hook").authentication;
    if (own === undefined) throw new Error("the config has credentials");
    const authentication = { ...own, scheme: "bASIC", credentials: "dTpw" };
    expect((await notify({ authentication })).headers.get("authorization")).toBe("bASIC dTpw");
  });

  it("carries neither where there are none", async () => {
    const config = createPushConfig("task-1", "hook");
    const { authentication, ...rest } = config;
    const event = events[0];
    if (event === undefined || authentication === undefined) throw new Error("there is nothing to test");
    for (const bare of [
      { ...rest, token: "" },
      { ...config, token: "", authentication: { ...authentication, credentials: "" } },
    ]) {
      const names = [...(await createNotification(bare, event, undefined)).headers.keys()];
      expect(names).toEqual(["content-type", "x-a2a-event-id"]);
    }
  });

  for (const [what, text, content] of [
    ["text", "é".repeat(3_000_000), undefined],
    [
      "small values",
      "",
      {
        case: "data",
        value: fromJson(
          ValueSchema,
          Array.from({ length: 60_000 }, (_, i) => i),
        ),
      },
    ],
  ] as const) {
    it(`of much ${what} is made in pieces, and other calls run in between`, async () => {
      const part = content === undefined ? { content: { case: "text" as const, value: text } } : { content };
      const update = create(TaskArtifactUpdateEventSchema, { taskId: "task-1", artifact: { parts: [part] } });
      const response = create(StreamResponseSchema, { payload: { case: "artifactUpdate", value: update } });
      const payload = toBinary(StreamResponseSchema, response);
      let turns = 0;
      let isMade = false;
      const count = () => {
        turns += 1;
        if (!isMade) setImmediate(count);
      };
      setImmediate(count);
      const { body, bytes } = await notify({}, { sequence: 1, generation: 1, kind: "artifact", payload });
      isMade = true;
      expect(turns).toBeGreaterThan(bytes / (256 * 1024));
      expect(Math.max(...body.map(({ length }) => length))).toBeLessThan(256 * 1024);
      const json = new TextDecoder().decode(
        new Uint8Array(await new Blob([...body] as BlobPart[]).arrayBuffer()),
      );
      expect(fromJson(StreamResponseSchema, JSON.parse(json))).toEqual(response);
    });
  }
});

it.each([
  ["a small task", "x".repeat(1_000)],
  ["a large one", "\u0001".repeat(300_000)],
])(
  "for a webhook of A2A 0.3 has the whole of %s, or its status alone when that would take too much",
  async (_, text) => {
    const part = create(PartSchema, { content: { case: "text", value: text } });
    const task = create(TaskSchema, {
      id: "task-1",
      status: { state: TaskState.WORKING },
      history: [{ messageId: "m", parts: [part] }],
      artifacts: [{ artifactId: "a", parts: [part] }],
    });
    const config = createPushConfig("task-1", "hook");
    const [event] = events;
    if (event === undefined) throw new Error("there is an event");
    const tell = async (maxBytes: number) => {
      const { body, bytes } = await createNotification(config, event, undefined, { task, maxBytes });
      expect(body.reduce((sum, { length }) => sum + length, 0)).toBe(bytes);
      return { bytes, json: JSON.parse(await new Blob([...body] as BlobPart[]).text()) };
    };
    const whole = await tell(Number.MAX_SAFE_INTEGER);
    expect(whole.json).toMatchObject({ id: "task-1", history: [{ parts: [{ text }] }], artifacts: [{}] });
    expect(await tell(whole.bytes)).toEqual(whole);
    const { json, bytes } = await tell(whole.bytes - 1);
    expect(json).toMatchObject({ id: "task-1", kind: "task", status: { state: "working" } });
    expect(bytes).toBeLessThan(300);
  },
);
