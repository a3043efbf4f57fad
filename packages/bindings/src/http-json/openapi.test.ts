import { describe, expect, it } from "vitest";
import { createOpenApi } from "./openapi.ts";

// That the document is valid, and complete against the protocol's facts, is in test/openapi.

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name?: string; readonly in?: string; readonly $ref?: string }[];
  readonly requestBody?: { readonly required: boolean; readonly content: object };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

const document = createOpenApi({
  title: "Echo",
  version: "1.2.3",
  description: "Says it again.",
  serverUrl: "http://localhost:4000/rest",
});
const paths = document["paths"] as unknown as Record<string, Record<string, Operation>>; // what the validator checks
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([verb, operation]) => ({ route: `${verb.toUpperCase()} ${path}`, ...operation })),
);

function operation(route: string): (typeof operations)[number] {
  const found = operations.find((each) => each.route === route);
  if (found === undefined) {
    throw new Error(`the document has no ${route}`);
  }
  return found;
}

describe("the OpenAPI document", () => {
  it("says what it is told", () => {
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\./),
      info: { title: "Echo", version: "1.2.3", description: "Says it again." },
      servers: [{ url: "http://localhost:4000/rest" }],
    });
    expect(createOpenApi({ title: "t", version: "1", serverUrl: "/" })["info"]).toStrictEqual({
      title: "t",
      version: "1",
    });
  });

  it("gives each route an operation id of its own that begins with the RPC", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => id.startsWith("SubscribeToTask")).sort()).toStrictEqual([
      "SubscribeToTask",
      "SubscribeToTaskByPost",
      "SubscribeToTaskByPostWithTenant",
      "SubscribeToTaskWithTenant",
    ]);
  });

  it("declares each variable of a path, and nothing else, as in the path", () => {
    for (const { route, parameters } of operations) {
      const variables = [...route.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = parameters.filter((each) => each.in === "path").map(({ name }) => name);
      expect(declared.sort(), route).toStrictEqual(variables.sort());
    }
  });

  for (const [route, names] of [
    ["GET /tasks/{id}", ["tenant", "historyLength"]],
    ["GET /{tenant}/tasks/{id}", ["historyLength"]],
    [
      "GET /tasks",
      [
        "tenant",
        "contextId",
        "status",
        "pageSize",
        "pageToken",
        "historyLength",
        "statusTimestampAfter",
        "includeArtifacts",
      ],
    ],
    ["GET /tasks/{taskId}/pushNotificationConfigs", ["tenant", "pageSize", "pageToken"]],
    ["DELETE /{tenant}/tasks/{taskId}/pushNotificationConfigs/{id}", []],
    ["POST /message:send", []],
  ] as const) {
    it(`takes from the query what neither path nor body carries: ${route}`, () => {
      const { parameters } = operation(route);
      const query = parameters.filter((each) => each.in === "query").map(({ name }) => name);
      expect(query.sort()).toStrictEqual([...names].sort());
    });
  }

  it("takes the version and the extensions as headers everywhere (K-9)", () => {
    for (const { route, parameters } of operations) {
      expect(
        parameters.flatMap(({ $ref }) => $ref ?? []),
        route,
      ).toStrictEqual(["#/components/parameters/A2A-Version", "#/components/parameters/A2A-Extensions"]);
    }
  });

  it("takes and gives both JSON media types (K-3), and streams events (K-8)", () => {
    const json = ["application/a2a+json", "application/json"];
    const contents = (route: string) => {
      const { requestBody, responses } = operation(route);
      return [Object.keys(requestBody?.content ?? {}), Object.keys(responses["200"]?.content ?? {})];
    };
    expect(contents("POST /message:send")).toStrictEqual([json, json]);
    expect(contents("POST /message:stream")).toStrictEqual([json, ["text/event-stream"]]);
    expect(contents("GET /tasks/{id}:subscribe")).toStrictEqual([[], ["text/event-stream"]]);
    expect(contents("DELETE /tasks/{taskId}/pushNotificationConfigs/{id}")).toStrictEqual([[], json]);
  });

  it("answers every failure with the error body (K-7)", () => {
    for (const { route, responses } of operations) {
      expect(Object.keys(responses), route).toStrictEqual(["200", "4XX", "5XX"]);
      expect(responses["4XX"], route).toStrictEqual({ $ref: "#/components/responses/Error" });
      expect(responses["5XX"], route).toStrictEqual({ $ref: "#/components/responses/Error" });
    }
  });

  it("describes a whole request as the body unless the path carries what is REQUIRED (K-2)", () => {
    const body = (route: string) => JSON.stringify(operation(route).requestBody?.content);
    expect(body("POST /{tenant}/message:send")).toContain("#/components/schemas/SendMessageRequest");
    expect(body("POST /tasks/{id}:cancel")).toContain('{"type":"object","properties":{"tenant":');
  });

  it("lets the body be empty where the path carries all that is REQUIRED (K-4)", () => {
    expect(operation("POST /tasks/{id}:cancel").requestBody?.required).toBe(false);
    expect(operation("POST /tasks/{id}:subscribe").requestBody?.required).toBe(false);
    expect(operation("POST /message:send").requestBody?.required).toBe(true);
    expect(operation("POST /tasks/{taskId}/pushNotificationConfigs").requestBody?.required).toBe(true);
  });
});
