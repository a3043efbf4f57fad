import { describe, expect, it } from "vitest";
import { compileHttpRule } from "./http-rule.ts";
import { methods } from "./methods.ts";
import { createRouteTable, isReservedTenant } from "./route-table.ts";

const table = createRouteTable();

describe("createRouteTable", () => {
  for (const [verb, path, method, variables] of [
    ["POST", "/message:send", methods.sendMessage, {}],
    ["POST", "/acme/message:send", methods.sendMessage, { tenant: "acme" }],
    ["POST", "/message:stream", methods.sendStreamingMessage, {}],
    ["GET", "/tasks", methods.listTasks, {}],
    ["GET", "/acme/tasks", methods.listTasks, { tenant: "acme" }],
    ["GET", "/tasks/t1", methods.getTask, { id: "t1" }],
    ["GET", "/acme/tasks/t1", methods.getTask, { tenant: "acme", id: "t1" }],
    ["GET", "/tasks/tasks", methods.getTask, { id: "tasks" }],
    ["GET", "/tasks/extendedAgentCard", methods.getTask, { id: "extendedAgentCard" }],
    [
      "GET",
      "/tasks/tasks/pushNotificationConfigs",
      methods.listTaskPushNotificationConfigs,
      { taskId: "tasks" },
    ],
    ["POST", "/tasks/t1:cancel", methods.cancelTask, { id: "t1" }],
    ["GET", "/tasks/t1:subscribe", methods.subscribeToTask, { id: "t1" }],
    ["POST", "/acme/tasks/t1:subscribe", methods.subscribeToTask, { tenant: "acme", id: "t1" }],
    ["GET", "/tasks/t1:other", methods.getTask, { id: "t1:other" }],
    ["GET", "/extendedAgentCard", methods.getExtendedAgentCard, {}],
    [
      "DELETE",
      "/tasks/t/pushNotificationConfigs/c",
      methods.deleteTaskPushNotificationConfig,
      { taskId: "t", id: "c" },
    ],
  ] as const) {
    it(`takes ${verb} ${path} to ${method.name} (K-11)`, () => {
      const found = table.find(verb, path);
      if (found === undefined || "allow" in found) {
        throw new Error(`found ${JSON.stringify(found)}`);
      }
      expect([found.method.name, found.variables, found.route.verb]).toEqual([method.name, variables, verb]);
    });
  }

  for (const [verb, path, allow] of [
    ["GET", "/message:send", ["POST"]],
    ["PUT", "/tasks/t1", ["GET"]],
    ["HEAD", "/tasks/t1", ["GET"]],
    ["get", "/tasks/t1", ["GET"]],
    ["GET", "/tasks/t1:cancel", ["POST"]],
    ["DELETE", "/tasks/t1:subscribe", ["GET", "POST"]],
    ["PUT", "/tasks/t/pushNotificationConfigs", ["GET", "POST"]],
    ["POST", "/acme/tasks/t/pushNotificationConfigs/c", ["DELETE", "GET"]],
  ] as const) {
    it(`allows ${allow} where ${verb} ${path} was asked (K-11)`, () => {
      const found = table.find(verb, path);
      expect(found !== undefined && "allow" in found ? found.allow.toSorted() : found).toEqual(allow);
    });
  }

  for (const path of [
    "/",
    "",
    "/tasks/",
    "/nothing",
    "/v1/message:send/x",
    "/tasks/:cancel",
    "/tasks/a/b",
    "/tasks/%FF",
  ]) {
    it(`knows no ${path || "empty path"}`, () => expect(table.find("GET", path)).toBeUndefined());
  }

  for (const path of [
    "/tasks/tasks/x",
    "/extendedAgentCard/tasks",
    "/message:send/tasks",
    "/tasks/message:send",
  ]) {
    it(`takes no tenant from ${path}`, () => expect(table.find("GET", path)).toBeUndefined());
  }
});

describe("createRouteTable of other routes", () => {
  it("prefers fewer variables, in whatever order the routes come", () => {
    const route = (template: string) =>
      compileHttpRule(methods.getTask.desc.input, { verb: "GET", template, body: "" });
    const special = { ...methods.getTask, routes: [route("/tasks/special")] };
    const general = { ...methods.getTask, routes: [route("/tasks/{id}")] };
    for (const methodTable of [
      { special, general },
      { general, special },
    ]) {
      const found = createRouteTable(methodTable).find("GET", "/tasks/special");
      expect(found !== undefined && "route" in found && found.route.template).toBe("/tasks/special");
    }
  });
});

describe("isReservedTenant", () => {
  for (const [tenant, reserved] of [
    ["tasks", true],
    ["extendedAgentCard", true],
    ["message:send", true],
    ["message:anything", true],
    ["message", false],
    ["Tasks", false],
    ["acme", false],
    ["", false],
  ] as const) {
    it(`is ${reserved} for "${tenant}" (K-11)`, () => expect(isReservedTenant(tenant)).toBe(reserved));
  }
});
