import type { HttpRequest } from "@a2a-connect/bindings";
import { createHttpJsonHandler, createOpenApi } from "@a2a-connect/bindings/server";
import { A2AService } from "@a2a-connect/proto";
import { createServiceImplSpec } from "@connectrpc/connect";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { readWireFacts } from "../proto/wire-facts.ts";
import { schemaChecks } from "./schema-check.ts";

const document = createOpenApi({ title: "Echo", version: "1.2.3", serverUrl: "http://localhost:4000/rest" });

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const broken = { ...document, paths: { tasks: {} } };
    expect(await new Validator().validate({ ...broken })).toMatchObject({ valid: false });
    expect(await new Validator().validate({ ...document })).toStrictEqual({ valid: true });
  });

  it("has every route of the protocol, and POST beside GET for SubscribeToTask (K-1), and no other", () => {
    const rules = Object.values(readWireFacts().services).flatMap(({ methods }) =>
      Object.values(methods).flatMap(({ http }) => http),
    );
    const subscribe = rules
      .filter(({ path }) => path.endsWith(":subscribe"))
      .map((rule) => ({ ...rule, verb: "POST" }));
    const wanted = [...rules, ...subscribe].map(
      ({ verb, path }) =>
        `${verb.toUpperCase()} ${path.replaceAll("=*", "").replaceAll("task_id", "taskId")}`,
    );
    expect(wanted).toHaveLength(24);
    const routes = Object.entries(document["paths"] ?? {}).flatMap(([path, item]) =>
      Object.keys(item).map((verb) => `${verb.toUpperCase()} ${path}`),
    );
    expect(routes.sort()).toStrictEqual(wanted.sort());
  });
});

describe("the schemas of the OpenAPI document", () => {
  const checks = schemaChecks(document);
  const pointers = findSchemas(document);

  it("compile wherever they stand", () => {
    expect(pointers.length).toBeGreaterThan(50);
    for (const pointer of pointers) {
      expect(checks(pointer), pointer).toBeTypeOf("function");
    }
  });

  const body = (route: string, value: unknown) => {
    const [verb = "", path = ""] = route.split(" ");
    return checks(
      `${pointerOf("paths", path, verb.toLowerCase())}/requestBody/content/application~1json/schema`,
    )(value);
  };

  it("describe bodies: whole requests, and without what is REQUIRED of the path", () => {
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] };
    expect(body("POST /message:send", { message })).toStrictEqual([]);
    expect(body("POST /message:send", { message: { ...message, parts: [] } })).not.toStrictEqual([]);
    expect(body("POST /message:send", {})).not.toStrictEqual([]);
    expect(body("POST /tasks/{id}:cancel", {})).toStrictEqual([]);
    expect(body("POST /tasks/{id}:cancel", { metadata: 1 })).not.toStrictEqual([]);
    expect(
      body("POST /tasks/{taskId}/pushNotificationConfigs", { url: "https://example.com" }),
    ).toStrictEqual([]);
    expect(body("POST /tasks/{taskId}/pushNotificationConfigs", {})).not.toStrictEqual([]);
  });

  const error = checks("/components/schemas/Error");

  for (const [title, url, status, detail] of [
    ["a wrong parameter", "/tasks?pageSize=abc", 400, "BadRequest"],
    ["an unknown path", "/nothing", 404, undefined],
  ] as const) {
    it(`describe the error that the server gives for ${title} (E.3)`, async () => {
      const answer = await get(url);
      expect(answer.status).toBe(status);
      expect(error(answer.json)).toStrictEqual([]);
      expect(JSON.stringify(answer.json).includes(`google.rpc.${detail ?? ""}`)).toBe(detail !== undefined);
    });
  }

  const failure = (details: unknown) => ({
    error: { code: 404, status: "NOT_FOUND", message: "no", details },
  });
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "TASK_NOT_FOUND", domain: "d" };

  it("refuse errors of another shape", () => {
    expect(error(failure([info]))).toStrictEqual([]);
    expect(error(failure([{ "@type": "type.googleapis.com/other.Type", reason: 1 }]))).toStrictEqual([]);
    expect(error({})).not.toStrictEqual([]);
    expect(error({ error: { code: "404" } })).not.toStrictEqual([]);
    for (const missing of ["code", "status", "message", "details"]) {
      const { [missing]: _, ...rest } = failure([info]).error as Record<string, unknown>; // any member may be left out
      expect(error({ error: rest }), missing).not.toStrictEqual([]);
    }
    expect(error(failure([{ reason: "x" }]))).not.toStrictEqual([]);
    expect(error(failure([{ ...info, reason: 1 }]))).not.toStrictEqual([]);
    expect(error(failure([{ ...info, metadata: { n: 1 } }])), "E-5").not.toStrictEqual([]);
  });
});

/** Call a server that implements nothing. */
async function get(path: string): Promise<{ status: number; json: unknown }> {
  const handle = createHttpJsonHandler(createServiceImplSpec(A2AService, {}));
  const request: HttpRequest = {
    httpVersion: "1.1",
    method: "GET",
    url: `http://localhost${path}`,
    header: new Headers({ "a2a-version": "1.0" }),
    body: emptyBody(),
    signal: new AbortController().signal,
  };
  const { status, body } = await handle(request);
  if (typeof body !== "string") {
    throw new Error("the answer is not a text");
  }
  return { status, json: JSON.parse(body) };
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** JSON pointers of every schema: the components, and what stands under the key `schema`. */
function findSchemas(root: unknown, pointer = ""): string[] {
  if (typeof root !== "object" || root === null) {
    return [];
  }
  return Object.entries(root).flatMap(([key, value]) => {
    const here = pointer + pointerOf(key);
    const isSchema = key === "schema" || pointer === "/components/schemas";
    return isSchema ? [here] : findSchemas(value, here);
  });
}

function pointerOf(...keys: readonly string[]): string {
  // A URI fragment: what has a meaning in pointers is escaped first, then what has one in URIs.
  return keys
    .map((key) => `/${encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))}`)
    .join("");
}
