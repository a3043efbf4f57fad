import { json, text } from "@a2a-connect/core";
import { type Message, MessageSchema, type Part } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createArtifactTool, eventTools, TaskTools } from "./task-tools.ts";
import { UnusedResults } from "./unused-results.ts";

function toolsFor(message: Message): TaskTools {
  const caller = { principal: "alice", tenant: "", scopes: [], claims: {} };
  return new TaskTools(
    {
      message,
      taskId: "task",
      contextId: "context",
      skill: undefined,
      acceptedOutputModes: [],
      extensions: [],
      caller,
      principal: caller.principal,
      tenant: caller.tenant,
      metadata: undefined,
    },
    () => new AbortController().signal,
    () => 1,
    new UnusedResults(),
  );
}

/** The tools for a message of these parts, and how often anything of them was looked at. */
function countedTools(parts: Part[]) {
  let looks = 0;
  const handler: ProxyHandler<object> = {
    get(target, name) {
      looks += 1;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "object" && value !== null ? new Proxy(value, handler) : value;
    },
  };
  const message = create(MessageSchema, { messageId: "m" });
  message.parts = new Proxy(parts, handler) as Part[];
  return { tools: toolsFor(message), looks: () => looks };
}

// An agent may read them once for each item of its caller's list.
describe("what an executor reads of its message in a loop", () => {
  const lists: Readonly<Record<string, Part[]>> = {
    "a list": [json(Array.from({ length: 100 }, (_, n) => ({ n })))],
    "an object behind other parts": [...Array.from({ length: 100 }, () => text("x")), json({ a: [1] })],
    "a text behind other parts": [...Array.from({ length: 100 }, () => text("x")), json("y")],
    "no data": Array.from({ length: 100 }, () => text("x")),
  };

  for (const [what, parts] of Object.entries(lists)) {
    for (const name of ["data", "text"] as const) {
      it(`is made once: ${name} of ${what}`, () => {
        const { tools, looks } = countedTools(parts);
        const first = tools[name];
        const once = looks();
        for (let read = 0; read < 10; read += 1) expect(tools[name]).toBe(first);
        expect(looks() - once).toBeLessThan(60);
      });
    }
  }

  it("is the JSON of the first data part", () => {
    const message = create(MessageSchema, { messageId: "m", parts: [text("x"), json({ a: 1 }), json(2)] });
    expect(toolsFor(message).data).toEqual({ a: 1 });
    expect(toolsFor(create(MessageSchema, { parts: [json(null)] })).data).toBeNull();
    expect(json(toolsFor(message).data ?? null)).toEqual(json({ a: 1 }));
  });
});

it("does not look at the data of an artifact before it is yielded", () => {
  const artifact = createArtifactTool(() => 1);
  const data = {
    get rows(): number[] {
      throw new Error("it was read");
    },
  };
  expect(() => artifact({ data })).not.toThrow();
});

it.each([
  ["an artifact", (parts: Part[]) => createArtifactTool(() => 1)({ parts })],
  ["a chunk", (parts: Part[]) => eventTools.append("log", parts)],
  ["a status", (parts: Part[]) => eventTools.working(parts)],
])("refuses %s with a list in which parts are missing, and makes nothing of it", (_, make) => {
  const parts = [text("first")];
  parts[400_000_000] = text("last");
  expect(() => make(parts)).toThrow("the list of parts has none at the index 1");
});
