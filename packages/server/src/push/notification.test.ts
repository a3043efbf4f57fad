import { StreamResponseSchema, type TaskPushNotificationConfig } from "@a2a-connect/proto";
import { createCommit, createPushConfig } from "@a2a-connect/testing";
import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import type { LogEvent } from "../store/task-store.ts";
import { createNotification } from "./notification.ts";

const { entries } = createCommit({ kinds: ["task", "status", "artifact"], text: "grüße" });
const events = entries as readonly LogEvent[]; // all three are events

function notify(changes: Partial<TaskPushNotificationConfig> = {}, event = events[0]) {
  if (event === undefined) throw new Error("there is no such event");
  return createNotification({ ...createPushConfig("task-1", "hook"), ...changes }, event);
}

describe("a notification", () => {
  for (const event of events) {
    it(`of a ${event.kind} event is a StreamResponse of A2A 1.0, with its id (N-1, N-4)`, () => {
      const { headers, body } = notify({}, event);
      const json = new TextDecoder().decode(body);
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

  it("carries the credentials as they were given, and the token (N-2, N-3)", () => {
    const { headers } = notify({ token: "a b=c" });
    expect(headers.get("authorization")).toBe("Bearer secret");
    expect(headers.get("x-a2a-notification-token")).toBe("a b=c");
    const own = createPushConfig("task-1", "hook").authentication;
    if (own === undefined) throw new Error("the config has credentials");
    const authentication = { ...own, scheme: "bASIC", credentials: "dTpw" };
    expect(notify({ authentication }).headers.get("authorization")).toBe("bASIC dTpw");
  });

  it("carries neither where there are none", () => {
    const config = createPushConfig("task-1", "hook");
    const { authentication, ...rest } = config;
    const event = events[0];
    if (event === undefined || authentication === undefined) throw new Error("there is nothing to test");
    for (const bare of [
      { ...rest, token: "" },
      { ...config, token: "", authentication: { ...authentication, credentials: "" } },
    ]) {
      const names = [...createNotification(bare, event).headers.keys()];
      expect(names).toEqual(["content-type", "x-a2a-event-id"]);
    }
  });
});
