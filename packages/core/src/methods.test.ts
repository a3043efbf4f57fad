import { A2AService } from "@a2a-connect/proto";
import { describe, expect, it } from "vitest";
import { methodByName, methods } from "./methods.ts";

describe("methods", () => {
  it("has every method of the service, in the proto's order", () => {
    expect(Object.values(methods).map(({ name }) => name)).toEqual(
      A2AService.methods.map(({ name }) => name),
    );
    expect(Object.keys(methods)).toEqual(A2AService.methods.map(({ localName }) => localName));
  });

  it("derives names, gRPC paths and stream flags from the descriptor", () => {
    expect(methods.subscribeToTask).toMatchObject({
      name: "SubscribeToTask",
      localName: "subscribeToTask",
      grpcPath: "/lf.a2a.v1.A2AService/SubscribeToTask",
      streaming: true,
    });
    expect(methods.getTask.streaming).toBe(false);
  });

  // The table of requirement K, written out once more by hand as the independent check of the derivation.
  for (const [method, wanted] of [
    [methods.sendMessage, ["POST /message:send *"]],
    [methods.sendStreamingMessage, ["POST /message:stream *"]],
    [methods.getTask, ["GET /tasks/{id=*}"]],
    [methods.listTasks, ["GET /tasks"]],
    [methods.cancelTask, ["POST /tasks/{id=*}:cancel *"]],
    [methods.subscribeToTask, ["GET /tasks/{id=*}:subscribe", "POST /tasks/{id=*}:subscribe *"]],
    [methods.createTaskPushNotificationConfig, ["POST /tasks/{task_id=*}/pushNotificationConfigs *"]],
    [methods.getTaskPushNotificationConfig, ["GET /tasks/{task_id=*}/pushNotificationConfigs/{id=*}"]],
    [methods.listTaskPushNotificationConfigs, ["GET /tasks/{task_id=*}/pushNotificationConfigs"]],
    [methods.deleteTaskPushNotificationConfig, ["DELETE /tasks/{task_id=*}/pushNotificationConfigs/{id=*}"]],
    [methods.getExtendedAgentCard, ["GET /extendedAgentCard"]],
  ] as const) {
    it(`routes ${method.name} with and without a tenant (K-1)`, () => {
      const routes = method.routes.map(
        ({ verb, template, body }) => `${verb} ${template}${body ? ` ${body}` : ""}`,
      );
      const tenantRoutes = wanted.map((route) => route.replace(" /", " /{tenant}/"));
      expect(routes.toSorted()).toEqual([...wanted, ...tenantRoutes].toSorted());
    });
  }

  it("finds a method by its exact name only", () => {
    expect(methodByName("GetTask")).toBe(methods.getTask);
    for (const name of ["getTask", "gettask", "tasks/get", "", "__proto__", "constructor"]) {
      expect(methodByName(name)).toBeUndefined();
    }
  });
});
