import {
  CancelTaskRequestSchema,
  GetExtendedAgentCardRequestSchema,
  GetTaskPushNotificationConfigRequestSchema,
  GetTaskRequestSchema,
  ListTasksRequestSchema,
  SendMessageRequestSchema,
  SubscribeToTaskRequestSchema,
  TaskPushNotificationConfigSchema,
  TaskState,
} from "@a2a-connect/proto";
import { create, type DescMessage, equals, type Message } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../test-support/any-character.ts";
import { bindHttpRequest, httpRequestParts } from "./bind-request.ts";
import { findFieldViolations } from "./errors.ts";
import { fitsSegment } from "./http-rule.ts";
import { methods } from "./methods.ts";
import { text, userMessage } from "./parts.ts";
import { createRouteTable, isReservedTenant } from "./route-table.ts";

const table = createRouteTable();

/** Route a request and bind it, as a server does. */
function bind(verb: string, target: string, body?: unknown): Message {
  const url = new URL(`http://localhost${target}`);
  const found = table.find(verb, url.pathname);
  if (found === undefined || "allow" in found) {
    throw new Error(`${verb} ${target} has no route`);
  }
  return bindHttpRequest(found.method, found.route, found.variables, url.searchParams, body);
}

function violationsOf(call: () => unknown): [field: string, description: string][] {
  try {
    call();
  } catch (error) {
    return findFieldViolations(error).map(({ field, description }) => [field, description]);
  }
  throw new Error("the request was accepted");
}

describe("bindHttpRequest", () => {
  for (const [verb, target, body, want] of [
    ["GET", "/tasks/t1?historyLength=0", undefined, { id: "t1", historyLength: 0, tenant: "" }],
    ["GET", "/tasks/t1?history_length=3", undefined, { historyLength: 3 }],
    ["GET", "/acme/tasks/t%2F1", undefined, { id: "t/1", tenant: "acme" }],
    ["GET", "/tasks/t1?tenant=acme", undefined, { id: "t1", tenant: "acme" }],
    ["GET", "/tasks/t1?A2A-Version=1.0&foo=1&id.x=2&__proto__=1", undefined, { id: "t1" }],
    [
      "GET",
      "/tasks?includeArtifacts=true&status=TASK_STATE_WORKING&pageSize=5&pageToken=a%2Bb",
      undefined,
      { includeArtifacts: true, status: TaskState.WORKING, pageSize: 5, pageToken: "a+b" },
    ],
    [
      "GET",
      "/tasks?include_artifacts=false&status=2",
      undefined,
      { includeArtifacts: false, status: TaskState.WORKING },
    ],
    ["GET", "/tasks?pageSize=5&pageSize=5&page_size=5", undefined, { pageSize: 5 }],
    [
      "GET",
      "/tasks?statusTimestampAfter=2026-01-31T12:00:00.5Z",
      undefined,
      { statusTimestampAfter: { seconds: 1_769_860_800n, nanos: 500_000_000 } },
    ],
    ["GET", "/tasks?contextId=", undefined, { contextId: "" }],
    ["GET", "/extendedAgentCard", undefined, { tenant: "" }],
    ["POST", "/tasks/t1:cancel", undefined, { id: "t1" }],
    ["POST", "/tasks/t1:cancel", { id: "t1", metadata: { k: 1 } }, { id: "t1", metadata: { k: 1 } }],
    ["POST", "/tasks/t1:cancel", { id: null }, { id: "t1" }],
    ["POST", "/tasks/t1:cancel?tenant=acme", {}, { tenant: "acme" }],
    ["POST", "/acme/tasks/t1:cancel?tenant=acme", { tenant: "acme" }, { tenant: "acme" }],
    ["POST", "/tasks/t1:subscribe", {}, { id: "t1" }],
    ["GET", "/tasks/t1:subscribe", undefined, { id: "t1" }],
    ["POST", "/message:send", { message: { message_id: "m" } }, { message: { messageId: "m" } }],
    [
      "POST",
      "/tasks/t1/pushNotificationConfigs",
      { task_id: "t1", url: "https://a" },
      { taskId: "t1", url: "https://a" },
    ],
    ["POST", "/tasks/t1/pushNotificationConfigs", { task_id: null, url: "https://a" }, { taskId: "t1" }],
    ["DELETE", "/tasks/t1/pushNotificationConfigs/c1", undefined, { taskId: "t1", id: "c1" }],
  ] as const) {
    it(`reads ${verb} ${target} with body ${JSON.stringify(body)} (K-2, K-5, K-6)`, () => {
      expect(bind(verb, target, body)).toMatchObject(want);
    });
  }

  const conflict = "has different values in the path, the query or the body";
  for (const [verb, target, body, field, description] of [
    ["POST", "/tasks/a:cancel", { id: "b" }, "id", conflict],
    ["POST", "/tasks/t/pushNotificationConfigs", { task_id: "u" }, "taskId", conflict],
    ["GET", "/tasks/a?id=b", undefined, "id", conflict],
    ["GET", "/acme/tasks/a?tenant=other", undefined, "tenant", conflict],
    ["POST", "/acme/message:send", { tenant: "other" }, "tenant", conflict],
    ["POST", "/message:send?tenant=a", { tenant: "b" }, "tenant", conflict],
    ["POST", "/tasks/a:cancel", { id: { x: 1 } }, "id", conflict],
    ["POST", "/tasks/a:cancel", { id: { toString: null, valueOf: null } }, "id", conflict],
    ["POST", "/tasks/a:cancel", { id: ["a"] }, "id", conflict],
    ["GET", "/tasks?pageSize=1&pageSize=2", undefined, "pageSize", "is given twice with different values"],
    ["GET", "/tasks?pageSize=1&page_size=2", undefined, "pageSize", "is given twice with different values"],
    ["GET", "/tasks?pageSize=abc", undefined, "pageSize", "must be a 32-bit integer"],
    ["GET", "/tasks?pageSize=", undefined, "pageSize", "must be a 32-bit integer"],
    ["GET", "/tasks?pageSize=1.5", undefined, "pageSize", "must be a 32-bit integer"],
    ["GET", "/tasks?pageSize=99999999999", undefined, "pageSize", "must be a 32-bit integer"],
    ["GET", "/tasks?includeArtifacts=yes", undefined, "includeArtifacts", "must be true or false"],
    ["GET", "/tasks?includeArtifacts=1", undefined, "includeArtifacts", "must be true or false"],
    ["GET", "/tasks?status=TASK_STATE_RUNNING", undefined, "status", "must be a value of TaskState"],
    ["GET", "/tasks?status=99", undefined, "status", "must be a value of TaskState"],
    [
      "GET",
      "/tasks?statusTimestampAfter=now",
      undefined,
      "statusTimestampAfter",
      "must be a timestamp such as 2026-01-31T12:00:00.000Z",
    ],
    ["POST", "/message:send?message=hi", {}, "message", "cannot be given in the query"],
    ["POST", "/message:send", [], "", "the body must be a JSON object"],
    ["POST", "/message:send", null, "", "the body must be a JSON object"],
    ["POST", "/message:send", "x", "", "the body must be a JSON object"],
    ["POST", "/message:send", JSON.parse('{"__proto__":{}}'), "__proto__", "this key is not allowed"],
  ] as const) {
    it(`refuses ${verb} ${target} with body ${JSON.stringify(body)} (K-2, K-5, K-6)`, () => {
      expect(violationsOf(() => bind(verb, target, body))).toEqual([[field, description]]);
    });
  }

  it("names every wrong parameter", () => {
    const call = () => bind("GET", "/tasks?pageSize=a&historyLength=b");
    expect(
      violationsOf(call)
        .map(([field]) => field)
        .toSorted(),
    ).toEqual(["historyLength", "pageSize"]);
  });

  it("ignores a body where the route has none", () => {
    expect(bind("GET", "/tasks/t1", { id: "other" })).toMatchObject({ id: "t1" });
  });

  it("joins repeated and comma-separated values of a list (K-5)", () => {
    // No A2A request has a list in its query, so a route without a body is borrowed for one that does.
    const [route] = methods.listTasks.routes;
    const method = { ...methods.sendMessage, desc: { ...methods.sendMessage.desc, input: listRequest } };
    if (route === undefined) {
      throw new Error("ListTasks has no route");
    }
    const query = new URLSearchParams("extensions=a,b&extensions=c&message_id=m");
    expect(bindHttpRequest(method, route, {}, query, undefined)).toMatchObject({
      extensions: ["a", "b", "c"],
      messageId: "m",
    });
  });
});

const listRequest = SendMessageRequestSchema.field.message.message as DescMessage; // Message: it has a list of strings

describe("httpRequestParts", () => {
  for (const [title, method, message, want] of [
    [
      "a body without what the path carries",
      methods.cancelTask,
      create(CancelTaskRequestSchema, { id: "t", metadata: { a: 1 } }),
      ["POST", "/tasks/t:cancel", "", { metadata: { a: 1 } }],
    ],
    [
      "the tenant in the path (P-3)",
      methods.cancelTask,
      create(CancelTaskRequestSchema, { tenant: "acme", id: "t" }),
      ["POST", "/acme/tasks/t:cancel", "", {}],
    ],
    [
      "the rest in the query",
      methods.getTask,
      create(GetTaskRequestSchema, { id: "a/b", historyLength: 0 }),
      ["GET", "/tasks/a%2Fb", "historyLength=0", undefined],
    ],
    [
      "booleans, enums and timestamps in the query (K-5)",
      methods.listTasks,
      create(ListTasksRequestSchema, {
        tenant: "acme",
        includeArtifacts: false,
        status: TaskState.WORKING,
        statusTimestampAfter: create(TimestampSchema, { seconds: 1n }),
      }),
      [
        "GET",
        "/acme/tasks",
        "status=TASK_STATE_WORKING&statusTimestampAfter=1970-01-01T00%3A00%3A01Z&includeArtifacts=false",
        undefined,
      ],
    ],
    [
      "a tenant that a path cannot carry",
      methods.listTasks,
      create(ListTasksRequestSchema, { tenant: "tasks" }),
      ["GET", "/tasks", "tenant=tasks", undefined],
    ],
    [
      "POST for a subscription (K-1)",
      methods.subscribeToTask,
      create(SubscribeToTaskRequestSchema, { id: "t" }),
      ["POST", "/tasks/t:subscribe", "", {}],
    ],
    [
      "two path variables",
      methods.getTaskPushNotificationConfig,
      create(GetTaskPushNotificationConfigRequestSchema, { taskId: "t", id: "c" }),
      ["GET", "/tasks/t/pushNotificationConfigs/c", "", undefined],
    ],
    [
      "an empty request",
      methods.getExtendedAgentCard,
      create(GetExtendedAgentCardRequestSchema),
      ["GET", "/extendedAgentCard", "", undefined],
    ],
  ] as const) {
    it(`puts ${title}`, () => {
      const { verb, path, query, body } = httpRequestParts(method, message);
      expect([verb, path, query.toString(), body]).toEqual(want);
    });
  }

  it("opens a subscription with GET when told so (K-1)", () => {
    const request = create(SubscribeToTaskRequestSchema, { tenant: "acme", id: "t" });
    expect(httpRequestParts(methods.subscribeToTask, request, "GET")).toEqual({
      verb: "GET",
      path: "/acme/tasks/t:subscribe",
      query: new URLSearchParams(),
    });
  });

  for (const id of ["", ".", ".."]) {
    it(`refuses the id "${id}", naming the field`, () => {
      const call = () => httpRequestParts(methods.getTask, create(GetTaskRequestSchema, { id }));
      expect(violationsOf(call).map(([field]) => field)).toEqual(["id"]);
    });
  }

  it("is read back by a server as the same message", () => {
    const name = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 8 }).filter(fitsSegment);
    const tenant = fc.oneof(fc.constant(""), name);
    const requests = fc.oneof(
      fc
        .record({ tenant, id: name, historyLength: fc.integer() })
        .map((init) => [methods.getTask, create(GetTaskRequestSchema, init)] as const),
      fc
        .record({ tenant, contextId: name, pageSize: fc.integer(), includeArtifacts: fc.boolean() })
        .map((init) => [methods.listTasks, create(ListTasksRequestSchema, init)] as const),
      fc
        .record({ tenant, id: name })
        .map((init) => [methods.cancelTask, create(CancelTaskRequestSchema, init)] as const),
      fc
        .record({ tenant, taskId: name, url: name })
        .map(
          (init) =>
            [
              methods.createTaskPushNotificationConfig,
              create(TaskPushNotificationConfigSchema, init),
            ] as const,
        ),
      fc.record({ tenant, word: name }).map(
        ({ tenant: of, word }) =>
          [
            methods.sendMessage,
            create(SendMessageRequestSchema, {
              tenant: of,
              message: userMessage([text(word)], { messageId: word }),
            }),
          ] as const,
      ),
    );
    fc.assert(
      fc.property(requests, ([method, message]) => {
        const { verb, path, query, body } = httpRequestParts(method, message);
        const back = bind(
          verb,
          `${path}?${query}`,
          body === undefined ? undefined : JSON.parse(JSON.stringify(body)),
        );
        expect(equals<DescMessage>(method.desc.input, back, message)).toBe(true);
      }),
      {
        seed: 20_260_131,
        numRuns: 300,
        examples: [[[methods.getTask, create(GetTaskRequestSchema, { tenant: "tasks", id: "tasks" })]]],
      },
    );
    expect(isReservedTenant("tasks")).toBe(true);
  });
});
