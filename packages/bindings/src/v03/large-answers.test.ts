import { setImmediate as nextTurn } from "node:timers/promises";
import { methods, type RpcMethod } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import { MessageSchema, Role, type Task, TaskSchema, TaskState } from "@a2a-connect/proto";
import { GetTaskRequestSchema, TaskSchema as OlderTaskSchema } from "@a2a-connect/proto/a2a/v1";
import { create, isMessage, type JsonObject, type Message } from "@bufbuild/protobuf";
import { createHandlerContext } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import type { BoundOperation } from "../invoke.ts";
import { nextSlice } from "../next-slice.ts";
import { bindOlderCalls } from "./calls.ts";
import { createForms } from "./forms.ts";
import { bindProtoCalls, bindProtoOperations } from "./proto-calls.ts";
import { writeOlderTask } from "./push.ts";

/** Messages of the history; each has some 5 KB as JSON. */
const messages = 300;

/** The most of them that one step may read: a piece of 64 KiB has up to 30, and 37 tell that the task is large. */
const mostAtOnce = 60;

/** A task with a long history, which tells of each message that is read. */
function largeTask(onRead: () => void): Task {
  const message = create(MessageSchema, {
    messageId: "m",
    role: Role.USER,
    parts: Array.from({ length: 200 }, () => ({ content: { case: "text" as const, value: "" } })),
  });
  const task = create(TaskSchema, {
    id: "t",
    status: { state: TaskState.WORKING, message },
    artifacts: [{ artifactId: "a", parts: message.parts, metadata: { b: 1 } }],
  });
  task.history = new Proxy(
    Array.from({ length: messages }, () => message),
    {
      get(target, name, receiver) {
        if (typeof name === "string" && /^\d+$/.test(name)) onRead();
        return Reflect.get(target, name, receiver);
      },
    },
  );
  return task;
}

/** A method that answers with this task. */
function answerTo(method: RpcMethod, task: Task): BoundOperation[] {
  return [{ method, bound: { kind: "unary", desc: method.desc as never, call: async () => task } }];
}

function answerWith(task: Task): BoundOperation[] {
  return answerTo(methods.getTask, task);
}

/** What JSON-RPC, HTTP+JSON and webhooks write of a task. */
const writers: readonly [name: string, write: (task: Task) => string | Iterable<string>][] = (
  ["json", "proto"] as const
).map((dialect) => [
  `an answer (${dialect})`,
  (task) => bindOlderCalls(answerWith(task), createForms(dialect))[0]?.write(task) ?? "",
]);

describe("a large task in the words of 0.3", () => {
  for (const [name, write] of [...writers, ["a webhook", writeOlderTask] as const]) {
    it(`is converted with the piece of text it belongs to: ${name}`, () => {
      let read = 0;
      const most: number[] = [];
      const endStep = () => {
        most.push(read);
        read = 0;
      };
      const pieces = write(largeTask(() => read++));
      endStep();
      let text = "";
      for (const piece of pieces) {
        endStep();
        text += piece;
      }
      expect(Math.max(...most)).toBeLessThan(mostAtOnce);
      const { history } = JSON.parse(text) as { readonly history: readonly unknown[] };
      expect(history).toHaveLength(messages);
      const small = largeTask(() => {});
      small.history = small.history.slice(0, 1);
      const [whole] = (JSON.parse(String(write(small))) as { readonly history: readonly unknown[] }).history;
      expect(history[messages - 1]).toEqual(whole);
    });
  }

  it("becomes a message of a2a.v1 in many turns of the event loop", async () => {
    let read = 0;
    let most = 0;
    let isDone = false;
    const task = largeTask(() => read++);
    const [operation] = bindProtoOperations(answerWith(task));
    const { bound, current } = operation ?? {};
    if (bound?.kind !== "unary" || current === undefined) throw new Error("GetTask is unary");
    const context = createHandlerContext({
      service: bound.desc.parent,
      method: bound.desc,
      protocolName: "grpc",
      requestMethod: "POST",
      url: "http://localhost",
    });
    const request = await current.request(create(GetTaskRequestSchema, { name: "tasks/t" }), 100, "alice");
    const answer = bound.call(request, context).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await nextSlice(undefined);
      most = Math.max(most, read);
      read = 0;
    }
    expect(most).toBeLessThan(mostAtOnce);
    const older = await answer;
    const eager = createForms("proto").task.toOlder(formatMessage(TaskSchema, task)) as JsonObject;
    expect(formatOlder(older)).toEqual(eager);
  });
});

describe("a large request in the words of a2a.v1", () => {
  const [call] = bindProtoCalls(answerTo(methods.sendMessage, create(TaskSchema)));
  const data = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`k${index}`, index]));
  const json = { message: { messageId: "m", role: "ROLE_USER", content: [{ data: { data } }] } };

  it("is read in several turns of the event loop", async () => {
    let turns = 0;
    let isDone = false;
    const reading = call?.read(json, 100, "alice").finally(() => {
      isDone = true;
    });
    for (; !isDone; turns++) await nextTurn();
    expect(turns).toBeGreaterThan(2);
    expect(await reading).toMatchObject({ message: { parts: [{ content: { case: "data" } }] } });
  });

  it("is read in the slices of its caller: many of one keep that of another waiting for few", async () => {
    let read = 0;
    const all = Array.from({ length: 8 }, () => call?.read(json, 100, "alice").then(() => read++));
    await call?.read(json, 100, "bob");
    expect(read).toBeLessThan(4);
    await Promise.all(all);
  });
});

function formatOlder(message: Message): unknown {
  return isMessage(message, OlderTaskSchema) ? formatMessage(OlderTaskSchema, message) : undefined;
}
