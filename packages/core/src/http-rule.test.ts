import { GetTaskPushNotificationConfigRequestSchema } from "@a2a-connect/proto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../test-support/any-character.ts";
import { compileHttpRule, fitsSegment, type HttpRoute } from "./http-rule.ts";
import { methods } from "./methods.ts";

const allRoutes = Object.values(methods).flatMap(({ name, routes }) =>
  routes.map((route) => ({ name, route })),
);

/** What the method's own routes make of a path, the first that fits. */
function match(routes: readonly HttpRoute[], path: string): Readonly<Record<string, string>> | undefined {
  return routes.map((route) => route.match(path)).find((variables) => variables !== undefined);
}

describe("HttpRoute.match", () => {
  for (const [path, want] of [
    ["/tasks/t1:cancel", { id: "t1" }],
    ["/acme/tasks/t1:cancel", { tenant: "acme", id: "t1" }],
    ["/tasks/a:b:cancel", { id: "a:b" }],
    ["/tasks/a%3Acancel:cancel", { id: "a:cancel" }],
    ["/tasks/a%2Fb:cancel", { id: "a/b" }],
    ["/tasks/%C3%A9:cancel", { id: "é" }],
    ["/tasks/a+b:cancel", { id: "a+b" }],
    ["/tasks/t1/extra:cancel", undefined],
    ["/tasks/:cancel", undefined],
    ["//tasks/t1:cancel", undefined],
    ["/tasks//t1:cancel", undefined],
    ["/tasks/t1:cancel/", undefined],
    ["/tasks/t1%3Acancel", undefined],
    ["/tasks/t1:CANCEL", undefined],
    ["/tasks/%E9:cancel", undefined],
    ["/tasks/%:cancel", undefined],
    ["tasks/t1:cancel", undefined],
  ] as const) {
    it(`makes ${JSON.stringify(want)} of ${path} (K-2)`, () => {
      expect(match(methods.cancelTask.routes, path)).toEqual(want);
    });
  }

  it("names variables by the field's local name", () => {
    expect(match(methods.getTaskPushNotificationConfig.routes, "/tasks/t/pushNotificationConfigs/c")).toEqual(
      {
        taskId: "t",
        id: "c",
      },
    );
  });

  it("takes a colon without a known suffix as part of the variable", () => {
    expect(match(methods.getTask.routes, "/tasks/a:b")).toEqual({ id: "a:b" });
  });
});

describe("HttpRoute.expand", () => {
  const [route] = methods.getTask.routes;

  for (const [id, want] of [
    ["t1", "/tasks/t1"],
    ["a/b:c?d#e f", "/tasks/a%2Fb%3Ac%3Fd%23e%20f"],
    ["é", "/tasks/%C3%A9"],
    ["", undefined],
    [".", undefined],
    ["..", undefined],
    ["\ud800", undefined],
  ] as const) {
    it(`makes ${want} of ${JSON.stringify(id)}`, () => expect(route?.expand({ id })).toBe(want));
  }

  it("needs every variable", () => expect(route?.expand({})).toBeUndefined());

  const segment = fc.string({ unit: anyCharacter, minLength: 1 }).filter(fitsSegment);

  for (const { name, route: anyRoute } of allRoutes) {
    it(`is the inverse of match for ${name} ${anyRoute.verb} ${anyRoute.template}`, () => {
      const variables = fc.record(
        Object.fromEntries(anyRoute.variables.map((variable) => [variable, segment])),
      );
      fc.assert(
        fc.property(variables, (values) => {
          const path = anyRoute.expand(values);
          expect(anyRoute.match(path ?? "")).toEqual(values);
          // What a URL parser makes of it is still the same path.
          expect(new URL(`http://localhost${path}`).pathname).toBe(path);
        }),
        { seed: 20_260_131, numRuns: 50 },
      );
    });
  }
});

describe("compileHttpRule", () => {
  for (const [template, body, want] of [
    ["/tasks/{id=**}", "", "not supported"],
    ["/tasks/{name=tasks/*}", "", "not supported"],
    ["tasks", "", "not supported"],
    ["/tasks/", "", "not supported"],
    ["/tasks/{nobody}", "", "names no field"],
    ["/tasks/{id}", "config", "body"],
  ] as const) {
    it(`refuses ${template} with body "${body}"`, () => {
      const compile = () =>
        compileHttpRule(GetTaskPushNotificationConfigRequestSchema, { verb: "GET", template, body });
      expect(compile).toThrow(want);
    });
  }
});
