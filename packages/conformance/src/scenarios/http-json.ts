import { TaskState, TaskStateSchema } from "@a2a-connect/proto";
import { casesOfWork, newId, sendTask } from "../calls.ts";
import { expect } from "../expect.ts";
import { endedTask, helloJson, rawHelloTask, settledTask } from "../hello.ts";
import { callRaw, callRest, type RawAnswer, type RawRequest, readAnySse, readSse } from "../raw-calls.ts";
import { NotApplicable, type ScenarioGroup, scenarios } from "../scenario.ts";
import { anotherExtension, requiredExtension } from "../server-name.ts";
import type { Target } from "../target.ts";

const body = (words: string): RawRequest => ({
  message: { messageId: newId(), role: "ROLE_USER", parts: [{ text: words }] },
});

/** The type of a body that is sent; undefined: none is named. */
const typed = (type: string | undefined) => (type === undefined ? {} : { "content-type": type });

/** K */
export const httpJson: ScenarioGroup = scenarios("K HTTP+JSON", ({ verifies, anyAgent }) => {
  const streamingAgent = anyAgent.where({ when: ["streaming"] });

  streamingAgent("K-1", "subscribes with GET or with POST", async ({ target, note }) => {
    const path = `/tasks/${newId()}:subscribe`;
    const answers = [await callRest(target, "GET", path), await callRest(target, "POST", path)];
    const heard = answers.filter(({ text }) => text.includes("TASK_NOT_FOUND"));
    if (heard.length === 1) {
      note(
        `It subscribes with ${heard[0] === answers[0] ? "GET" : "POST"} only; the schema says GET, the text POST.`,
      );
    }
    expect(heard.length, answers.map(({ status, text }) => `${status} ${text}`).join("\n")).toBeGreaterThan(
      0,
    );
  });

  anyAgent("K-2", "decodes the path to a task", async (stage) => {
    const { id } = await settledTask(stage);
    const encoded = [...new TextEncoder().encode(id)]
      .map((byte) => `%${byte.toString(16).padStart(2, "0")}`)
      .join("");
    const { result, text } = await callRest(stage.target, "GET", `/tasks/${encoded}`);
    expect(result?.id, text).toBe(id);
  });

  for (const type of ["application/json", "application/a2a+json"]) {
    anyAgent("K-3", `accepts a hello of ${type}, and answers with a JSON media type`, async (stage) => {
      const message = helloJson(stage);
      const { status, header, text } = await callRaw(stage, "sendMessage", { message }, typed(type));
      expect(status, text).toBe(200);
      const answered = header.get("content-type") ?? "";
      expect(answered).toMatch(/^application\/(a2a\+)?json\b/);
      if (!answered.startsWith(type)) {
        stage.note(
          `It answers ${type} with ${answered}. 1.0.1 prefers application/a2a+json, 1.0.0 application/json.`,
        );
      }
    });
  }

  anyAgent("K-4", "needs no body for a cancel, whatever its media type", async ({ target }) => {
    for (const type of [undefined, "application/json", "application/a2a+json"]) {
      const answer = await callRest(target, "POST", `/tasks/${newId()}:cancel`, undefined, typed(type));
      expect([type, answer.status], answer.text).toStrictEqual([type, 404]);
    }
  });

  anyAgent("K-5", "takes the filters of a list from the query", async (stage) => {
    const { id, contextId, status } = await settledTask(stage);
    const state = TaskStateSchema.value[status?.state ?? TaskState.UNSPECIFIED]?.name ?? "";
    const query = new URLSearchParams({
      contextId,
      status: state,
      pageSize: "7",
      historyLength: "0",
      includeArtifacts: "true",
      statusTimestampAfter: "2020-01-31T12:00:00.000Z",
    });
    const { json, text } = await callRest(stage.target, "GET", `/tasks?${query}`);
    expect(json, text).toMatchObject({
      totalSize: 1,
      tasks: [{ id }],
    });
    expect(json.tasks[0]?.history ?? []).toStrictEqual([]);
    query.set("status", state === "TASK_STATE_REJECTED" ? "TASK_STATE_FAILED" : "TASK_STATE_REJECTED");
    const none = await callRest(stage.target, "GET", `/tasks?${query}`);
    expect(none.json.tasks ?? [], none.text).toStrictEqual([]);
  });

  anyAgent.where({ server: "push", when: ["push"] })(
    "K-5 K-12",
    "takes the path of a webhook for its name, and deletes it",
    async (stage) => {
      const { id: taskId } = await endedTask(stage);
      const path = `/tasks/${taskId}/pushNotificationConfigs`;
      const config = { id: "hook", url: "https://example.com/hook" };
      const made = await callRest(stage.target, "POST", path, config);
      expect(made.json, made.text).toMatchObject({ taskId, ...config });
      expect((await callRest(stage.target, "GET", `${path}/hook`)).json).toMatchObject({ taskId, ...config });
      const gone = await callRest(stage.target, "DELETE", `${path}/hook`);
      expect([gone.status, gone.text.trim()]).toStrictEqual(gone.status === 204 ? [204, ""] : [200, "{}"]);
      const { json, text } = await callRest(stage.target, "GET", path);
      expect(json.configs ?? [], text).toStrictEqual([]);
    },
  );

  anyAgent("K-6", "ignores parameters that it does not know", async ({ target }) => {
    expect((await callRest(target, "GET", "/tasks?foo=1&constructor=2")).status).toBe(200);
  });

  for (const query of ["pageSize=abc", "includeArtifacts=maybe", "status=TASK_STATE_RUNNING"]) {
    anyAgent("K-6", `answers ?${query} with 400`, async ({ target }) =>
      expectErrorBody(await callRest(target, "GET", `/tasks?${query}`), 400),
    );
  }

  for (const [name, send, status] of [
    ["a text that is not JSON", (target: Target) => callRest(target, "POST", "/message:send", "{"), 400],
    ["a list", (target: Target) => callRest(target, "POST", "/message:send", "[]"), 400],
    ["nothing", (target: Target) => callRest(target, "POST", "/message:send", ""), 400],
    ["a send without a message", (target: Target) => callRest(target, "POST", "/message:send", {}), 400],
    ["an unknown task", (target: Target) => callRest(target, "GET", `/tasks/${newId()}`), 404],
  ] as const) {
    anyAgent("K-7", `answers ${name} with an error whose code is the status`, async ({ target }) =>
      expectErrorBody(await send(target), status),
    );
  }

  streamingAgent("K-8", "streams a hello as bare events", async (stage) => {
    const { status, header, text } = await callRaw(stage, "sendStreamingMessage", {
      message: helloJson(stage),
    });
    expect([status, header.get("content-type")], text).toStrictEqual([
      200,
      expect.stringMatching(/^text\/event-stream\b/),
    ]);
    const members = readAnySse(text).map((event) => Object.keys(event));
    expect(members.length, text).toBeGreaterThan(0);
    for (const [member, ...more] of members) {
      expect([member, more], text).toStrictEqual([
        expect.stringMatching(/^(task|message|statusUpdate|artifactUpdate)$/),
        [],
      ]);
    }
  });

  anyAgent("K-9", "reads the version from a header", async ({ target }) => {
    const statusOf = async (version: string) =>
      (await callRest(target, "GET", `/tasks/${newId()}`, undefined, { "a2a-version": version })).status;
    const [spoken, other] = [await statusOf("1.0"), await statusOf("9.9")];
    if (spoken === 404 && other === spoken) throw new NotApplicable("no version is refused");
    expect([spoken, other]).toStrictEqual([404, 400]);
  });

  anyAgent("K-12", "answers a hello, and what is read of it, with 200", async (stage) => {
    const { target } = stage;
    const { id } = await rawHelloTask(stage);
    for (const path of [`/tasks/${id}`, "/tasks"]) {
      expect([path, (await callRest(target, "GET", path)).status]).toStrictEqual([path, 200]);
    }
  });

  verifies("K-1", "subscribes with GET and with POST", async ({ target, client }) => {
    for (const verb of ["GET", "POST"]) {
      const { id } = await sendTask(client, "ask Why?");
      const response = await target.fetchOn("http-json", `/tasks/${id}:subscribe`, {
        method: verb,
        headers: { "a2a-version": "1.0" },
      });
      expect([verb, response.status]).toStrictEqual([verb, 200]);
      expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
      await client.cancelTask({ id });
      const events = readSse(await response.text());
      expect(events.map((event) => Object.keys(event))).toStrictEqual([["task"], ["statusUpdate"]]);
    }
  });

  verifies(
    "K-2",
    "decodes the path, and refuses a request that contradicts it",
    async ({ target, client }) => {
      const { id } = await sendTask(client, "ask Why?");
      const encoded = id.replaceAll("-", "%2D");
      expect((await callRest(target, "POST", `/tasks/${encoded}:cancel`, { id: "other" })).status).toBe(400);
      expect((await callRest(target, "GET", `/tasks/${id}?id=other`)).status).toBe(400);
      expect((await callRest(target, "GET", `/a-tenant/tasks/${id}?tenant=other`)).status).toBe(400);
      expect((await client.getTask({ id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
      const canceled = await callRest(target, "POST", `/tasks/${encoded}:cancel`, { id });
      expect(canceled.json.status.state).toBe("TASK_STATE_CANCELED");
      const colon = await callRest(target, "POST", "/tasks/a:b:cancel");
      expect(colon.json.error.details?.[0]?.metadata).toStrictEqual({ taskId: "a:b" });
    },
  );

  const a2a = "application/a2a+json";
  const plain = "application/json";
  for (const [name, headers, want] of [
    ["a body of a2a+json", { "content-type": a2a }, a2a],
    ["a body of json", { "content-type": plain }, plain],
    ["Accept a2a+json", { accept: a2a }, a2a],
    ["Accept json", { accept: plain }, plain],
    ["nothing said", {}, a2a],
  ] as const) {
    verifies("K-3", `answers ${name} with ${want}, errors too`, async ({ target }) => {
      const send = (content: RawRequest, path: string) =>
        "content-type" in headers
          ? callRest(target, "POST", "/message:send", content, headers)
          : callRest(target, "GET", path, undefined, headers);
      const good = await send(body("task it"), "/tasks");
      expect([good.status, good.header.get("content-type")]).toStrictEqual([200, want]);
      const bad = await send({}, "/tasks/nope");
      expect(bad.status).toBeGreaterThanOrEqual(400);
      expect(bad.header.get("content-type")).toBe(want);
    });
  }

  verifies(
    "K-4",
    "refuses a body of another type, and needs none where nothing is to be said",
    async ({ target, client }) => {
      for (const type of ["text/plain", "application/xml", "bogus"]) {
        const answer = await callRest(target, "POST", "/message:send", body("task no"), typed(type));
        expectErrorBody(answer, 415);
      }
      for (const type of [undefined, "application/json", "application/a2a+json"]) {
        const { id } = await sendTask(client, "ask Why?");
        const answer = await callRest(target, "POST", `/tasks/${id}:cancel`, undefined, typed(type));
        expect([type, answer.status]).toStrictEqual([type, 200]);
      }
    },
  );

  verifies("K-5", "takes parameters of GET from the query", async ({ target, client }) => {
    const contextId = `a b/ü&${newId()}`;
    const { id, status } = await sendTask(client, "task it", { contextId });
    const query = new URLSearchParams({
      contextId,
      status: "TASK_STATE_COMPLETED",
      pageSize: "7",
      historyLength: "0",
      includeArtifacts: "true",
      statusTimestampAfter: new Date(Number(status?.timestamp?.seconds ?? 0n) * 1000).toISOString(),
    });
    const { json } = await callRest(target, "GET", `/tasks?${query}`);
    expect(json).toMatchObject({ pageSize: 7, totalSize: 1, tasks: [{ id, artifacts: [{}] }] });
    expect(json.tasks[0]).not.toHaveProperty("history");
    query.set("includeArtifacts", "false");
    query.set("status", "TASK_STATE_WORKING");
    expect((await callRest(target, "GET", `/tasks?${query}`)).json.tasks).toStrictEqual([]);
  });

  verifies.where({ server: "push" })(
    "K-5 K-12",
    "takes parameters of DELETE from path and query",
    async ({ target, client }) => {
      const tenant = `t-${newId()}`;
      const { id: taskId } = await sendTask(client, "task it", { tenant });
      const path = `/tasks/${taskId}/pushNotificationConfigs`;
      const config = { id: "hook", url: "https://example.com/hook", tenant };
      expect((await callRest(target, "POST", path, config)).json).toMatchObject({ taskId, id: "hook" });
      expect(
        (await callRest(target, "GET", `${path}?tenant=${tenant}&pageSize=5`)).json.configs,
      ).toHaveLength(1);
      expect((await callRest(target, "DELETE", `${path}/hook`)).status).toBe(404);
      const deleted = await callRest(target, "DELETE", `${path}/hook?tenant=${tenant}`);
      expect(deleted.status).oneOf([200, 204]);
      expect((await callRest(target, "GET", `/${tenant}${path}`)).json.configs ?? []).toStrictEqual([]);
    },
  );

  verifies("K-6", "names the parameters that are wrong", async ({ target }) => {
    for (const [query, field] of [
      ["pageSize=abc", "pageSize"],
      ["includeArtifacts=maybe", "includeArtifacts"],
      ["status=TASK_STATE_RUNNING", "status"],
      ["statusTimestampAfter=yesterday", "statusTimestampAfter"],
    ]) {
      const answer = await callRest(target, "GET", `/tasks?${query}`);
      expectErrorBody(answer, 400);
      expect(answer.error.details?.[1]?.fieldViolations.map((violation) => violation.field)).toStrictEqual([
        field,
      ]);
    }
  });

  verifies(
    "K-7",
    "has the same error body for streams, and for paths and verbs that it does not have",
    async ({ target }) => {
      for (const [answer, status] of [
        [await callRest(target, "GET", "/tasks/nope:subscribe"), 404],
        [await callRest(target, "POST", "/message:stream", {}), 400],
        [await callRest(target, "GET", "/no/such/path/at/all"), 404],
        [await callRest(target, "PUT", "/tasks"), 405],
      ] as const) {
        expectErrorBody(answer, status);
      }
    },
  );

  verifies("K-8", "streams bare events, one line each", async ({ target }) => {
    const { status, header, text } = await callRest(target, "POST", "/message:stream", body("task it"));
    expect(status).toBe(200);
    expect(header.get("content-type")).toMatch(/^text\/event-stream/);
    expect(header.get("cache-control")).toBe("no-cache");
    expect(readSse(text).map((event) => Object.keys(event))).toStrictEqual(casesOfWork.map((kind) => [kind]));
  });

  verifies.where({ server: "required-extension" })(
    "K-9",
    "reads version and extensions from headers of any case",
    async ({ target }) => {
      const listed = { "A2A-EXTENSIONS": requiredExtension };
      expect((await callRest(target, "GET", "/tasks", undefined, listed)).status).toBe(200);
      const none = await callRest(target, "GET", "/tasks", undefined, anotherExtension);
      expectReason(none, "EXTENSION_SUPPORT_REQUIRED");
      const other = { ...listed, "a2a-version": "9.9" };
      expectReason(await callRest(target, "GET", "/tasks", undefined, other), "VERSION_NOT_SUPPORTED");
    },
  );

  verifies("K-10", "has no version in its paths", async ({ target }) => {
    expectErrorBody(await callRest(target, "POST", "/v1/message:send/", body("task no")), 404);
    expectErrorBody(await callRest(target, "GET", "/v1/card"), 404);
  });

  verifies("K-11", "prefers fixed paths to tenants, and says which verbs a path has", async ({ target }) => {
    const answer = await callRest(target, "GET", "/tasks/tasks");
    expect(answer.error.details?.[0]?.metadata).toStrictEqual({ taskId: "tasks" });
    expectErrorBody(await callRest(target, "GET", "/nowhere"), 404);
    const verb = await callRest(target, "DELETE", "/tasks/t");
    expectErrorBody(verb, 405);
    expect(verb.header.get("allow")).toMatch(/\bGET\b/);
    for (const tenant of ["tasks", "extendedAgentCard", "message:send"]) {
      const refused = await callRest(target, "GET", `/tasks?tenant=${encodeURIComponent(tenant)}`);
      expect(refused.status, tenant).oneOf([400, 404]);
    }
  });

  verifies("K-12", "answers a cancel and the extended card with 200", async ({ target, client }) => {
    const { id } = await sendTask(client, "ask Why?");
    for (const answer of [
      await callRest(target, "POST", `/tasks/${id}:cancel`, {}),
      await callRest(target, "GET", "/extendedAgentCard"),
    ]) {
      expect(answer.status).toBe(200);
    }
  });
});

function expectErrorBody({ status, header, json, text }: RawAnswer, want: number): void {
  expect(status, text).toBe(want);
  expect(header.get("content-type")).toMatch(/^application\/(a2a\+)?json/);
  expect(Object.keys(json)).toStrictEqual(["error"]);
  expect(json.error).toMatchObject({
    code: want,
    status: expect.stringMatching(/^[A-Z_]+$/),
    message: expect.stringMatching(/\w/),
  });
}

function expectReason({ json }: RawAnswer, reason: string): void {
  expect(json.error.details?.map((detail) => detail.reason)).toContain(reason);
}
