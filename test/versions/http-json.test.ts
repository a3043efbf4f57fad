// What callers of A2A 0.3 may write over HTTP+JSON, and what they are told.
import { once } from "node:events";
import { serve } from "@a2a-connect/node";
import { defineAgent } from "@a2a-connect/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const card = {
  name: "Asking",
  securitySchemes: {
    key: { scheme: { case: "apiKeySecurityScheme" as const, value: { location: "header", name: "X-Key" } } },
  },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
};
const agent = defineAgent({
  card,
  async *execute(turn) {
    yield turn.working();
    if (turn.text === "hold") await once(turn.signal, "abort");
    yield turn.inputRequired("What?");
  },
});

let served: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  served = await serve(agent, {
    file: ":memory:",
    push: { allow: ["127.0.0.1"] },
    extendedCard: { find: () => card, open: true },
  });
});
afterAll(() => served.close({ graceMs: 0 }));

async function call(method: string, path: string, body?: unknown) {
  const response = await fetch(`${served.url}/rest/v1${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const text = await response.text();
  return {
    status: response.status,
    header: response.headers,
    json: text === "" ? undefined : JSON.parse(text),
  };
}

const message = { messageId: "m", role: "ROLE_USER", content: [{ text: "hi" }] };
const startTask = async (): Promise<string> =>
  (await call("POST", "/message:send", { message })).json.task.id;

describe("a message of 0.3 over HTTP+JSON", () => {
  it("waits unless it has a configuration that is not blocking, the default of protobuf", async () => {
    for (const configuration of [undefined, { blocking: true }]) {
      const { json } = await call("POST", "/message:send", { message, configuration });
      expect([configuration, json.task.status.state]).toEqual([configuration, "TASK_STATE_INPUT_REQUIRED"]);
    }
    const held = { ...message, content: [{ text: "hold" }] };
    const { json } = await call("POST", "/message:send", {
      message: held,
      configuration: { acceptedOutputModes: [] },
    });
    expect(json.task.status.state).toMatch(/SUBMITTED|WORKING/);
    await call("POST", `/tasks/${json.task.id}:cancel`);
  });

  it("may be called request, and have names in snake_case and no id", async () => {
    const { json } = await call("POST", "/message:send", {
      request: {
        role: "ROLE_USER",
        content: [{ file: { file_with_uri: "https://a.example/", mime_type: "text/plain" } }],
      },
    });
    expect(json.task.history[0].content).toEqual([
      { file: { fileWithUri: "https://a.example/", mimeType: "text/plain" } },
    ]);
  });

  for (const [what, body, field] of [
    ["a role of JSON-RPC", { message: { ...message, role: "user" } }, "message.role"],
    ["no parts", { message: { ...message, content: [] } }, "message.content"],
    [
      "bytes that are none",
      { message: { ...message, content: [{ file: { fileWithBytes: "?" } }] } },
      "message.content[0].file.fileWithBytes",
    ],
    [
      "data that is no object",
      { message: { ...message, content: [{ data: { data: [1] } }] } },
      "message.content[0].data.data",
    ],
    [
      "a webhook without a URL",
      { message, configuration: { pushNotification: { url: "no" } } },
      "configuration.pushNotification.url",
    ],
    ["nothing", {}, "message"],
  ] as const) {
    it(`is told in its words what is wrong: ${what}`, async () => {
      const { status, json } = await call("POST", "/message:send", body);
      expect(status).toBe(400);
      expect(json).toMatchObject({ code: -32602, data: [{}, { fieldViolations: [{ field }] }] });
    });
  }
});

describe("a webhook of 0.3 over HTTP+JSON", () => {
  const config = { pushNotificationConfig: { id: "hook", url: "http://127.0.0.1:9/" } };

  for (const [what, body] of [
    ["the config", config],
    ["the whole request", { configId: "hook", config }],
    ["the request of another task", { parent: "tasks/other", config }],
  ] as const) {
    it(`may come as ${what}; its task is the one in the path`, async () => {
      const id = await startTask();
      const { json } = await call("POST", `/tasks/${id}/pushNotificationConfigs`, body);
      const stored = { name: `tasks/${id}/pushNotificationConfigs/hook`, ...config };
      expect(json).toEqual(stored);
      expect((await call("GET", `/tasks/${id}/pushNotificationConfigs`)).json).toEqual({ configs: [stored] });
    });
  }
});

it("the extended card over HTTP+JSON is the message of a2a.v1", async () => {
  expect((await call("GET", "/card")).json).toMatchObject({
    protocolVersion: "0.3.0",
    securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } } },
    security: [{ schemes: { key: {} } }],
  });
});

it("paths that 0.3 does not have, and verbs that a path does not have, are errors of 0.3", async () => {
  expect(await call("GET", "/tasks")).toMatchObject({ status: 404, json: { code: -32601 } });
  expect(await call("GET", "/tenant/tasks/t")).toMatchObject({ status: 404, json: { code: -32601 } });
  const refused = await call("DELETE", "/message:send");
  expect(refused).toMatchObject({ status: 405, json: { code: -32601 } });
  expect(refused.header.get("allow")).toBe("POST, OPTIONS");
  expect(await call("OPTIONS", "/message:send")).toMatchObject({ status: 204 });
  expect(await call("HEAD", `/tasks/${await startTask()}`)).toMatchObject({ status: 200, json: undefined });
});
