import { methods } from "@a2a-connect/core";
import { casesOfWork, newId, sendTask } from "../calls.ts";
import { expect } from "../expect.ts";
import { endedTask, helloJson, settledTask } from "../hello.ts";
import { callRpc, postRpc, type RawRequest, readAnySse, readSse } from "../raw-calls.ts";
import { NotApplicable, type ScenarioGroup, scenarios } from "../scenario.ts";
import { anotherExtension, requiredExtension } from "../server-name.ts";

const params = (words: string): RawRequest => ({
  message: { messageId: newId(), role: "ROLE_USER", parts: [{ text: words }] },
});
const call = (rest: RawRequest): RawRequest => ({
  jsonrpc: "2.0",
  id: 1,
  method: "ListTasks",
  params: {},
  ...rest,
});

/** A call that any server can answer with an error. */
const getUnknown = (): RawRequest => call({ method: "GetTask", params: { id: newId() } });

/** I */
export const jsonRpc: ScenarioGroup = scenarios("I JSON-RPC", ({ verifies, anyAgent }) => {
  const streamingAgent = anyAgent.where({ when: ["streaming"] });

  verifies("I-1", "takes and gives application/json, with or without a charset", async ({ target }) => {
    for (const type of [
      "application/json",
      "application/json; charset=utf-8",
      "Application/JSON;charset=UTF-8",
    ]) {
      const { status, header, json } = await postRpc(target, call({}), { "content-type": type });
      expect(status).toBe(200);
      expect(header.get("content-type")).toMatch(/^application\/json(; charset=utf-8)?$/);
      expect(json.result.pageSize).toBe(50);
    }
  });

  anyAgent(
    "I-1",
    "hears application/json with or without a charset, and answers with it",
    async ({ target }) => {
      for (const type of ["application/json", "application/json; charset=utf-8"]) {
        const { header, json, text } = await postRpc(target, getUnknown(), { "content-type": type });
        expect(header.get("content-type")).toMatch(/^application\/json\b/i);
        expect(json.error?.code, text).toBe(-32001);
      }
    },
  );

  anyAgent("I-2", "repeats the id of a call as it was, beside a result or an error", async ({ target }) => {
    for (const id of [1, 0, -7, 9_007_199_254_740_991, "a", "1", "ü"]) {
      const good = await postRpc(target, call({ id }));
      expect(Object.keys(good.json).toSorted(), good.text).toStrictEqual(["id", "jsonrpc", "result"]);
      const bad = await postRpc(target, { ...getUnknown(), id });
      expect(Object.keys(bad.json).toSorted(), bad.text).toStrictEqual(["error", "id", "jsonrpc"]);
      for (const { json } of [good, bad]) expect([json.jsonrpc, json.id]).toStrictEqual(["2.0", id]);
    }
  });

  for (const [name, body, code] of [
    ["a text that is not JSON", "{", -32700],
    ["a JSON text that is not an object", '"text"', -32600],
    ["a call of version 1.0 of JSON-RPC", call({ jsonrpc: "1.0" }), -32600],
    ["a call without a version of JSON-RPC", call({ jsonrpc: undefined }), -32600],
    ["a call without a method", call({ method: undefined }), -32600],
    ["a method that is a number", call({ method: 7 }), -32600],
    ["a method that does not exist", call({ method: "NoSuchMethod" }), -32601],
    ["a method in other letters", call({ method: "listTasks" }), -32601],
    ["params that are a word", call({ params: "all" }), [-32602, -32600]],
  ] as const) {
    anyAgent("I-2 I-13", `has the code for ${name}`, async ({ target }) => {
      const { json, text } = await postRpc(target, body);
      expect(json.error?.code, text).oneOf([code].flat());
      expect(json.error.message).toMatch(/\w/);
    });
  }

  anyAgent("I-3", "returns the task of a hello, and a list, themselves", async (stage) => {
    const { id, contextId } = await settledTask(stage);
    const got = await callRpc(stage.target, "GetTask", { id });
    expect(got.result?.id, got.text).toBe(id);
    const list = await callRpc(stage.target, "ListTasks", { contextId });
    expect(list.result?.tasks?.[0]?.id, list.text).toBe(id);
  });

  anyAgent.where({ server: "push", when: ["push"], places: ["jsonrpc"] })(
    "I-3 A-56",
    "returns a webhook itself",
    async (stage) => {
      const { id: taskId } = await endedTask(stage);
      const config = { taskId, id: "hook", url: "https://example.com/hook" };
      const made = await callRpc(stage.target, "CreateTaskPushNotificationConfig", config);
      expect(made.result, made.text).toMatchObject(config);
      const name = { taskId, id: "hook" };
      const got = await callRpc(stage.target, "GetTaskPushNotificationConfig", name);
      expect(got.result, got.text).toMatchObject(config);
      const gone = await callRpc(stage.target, "DeleteTaskPushNotificationConfig", name);
      expect(gone.json, gone.text).toHaveProperty("result");
    },
  );

  anyAgent("I-4", "reads the version from a header", async ({ target }) => {
    const codeOf = async (version: string) =>
      (await postRpc(target, getUnknown(), { "a2a-version": version })).json.error?.code;
    const [spoken, other] = [await codeOf("1.0"), await codeOf("9.9")];
    if (spoken === -32001 && other === spoken) throw new NotApplicable("no version is refused");
    expect([spoken, other]).toStrictEqual([-32001, -32009]);
  });

  streamingAgent(
    "I-5 I-12",
    "streams a hello as events that are whole responses with the id of the call",
    async (stage) => {
      for (const accept of ["text/event-stream", "*/*"]) {
        const body = call({
          id: "my-stream",
          method: "SendStreamingMessage",
          params: { message: helloJson(stage) },
        });
        const { status, header, text } = await postRpc(stage.target, body, { accept });
        expect(status, text).toBe(200);
        expect(header.get("content-type")).toMatch(/^text\/event-stream\b/);
        const events = readAnySse(text);
        expect(events.length, text).toBeGreaterThan(0);
        for (const event of events) {
          expect(Object.keys(event).toSorted(), text).toStrictEqual(["id", "jsonrpc", "result"]);
          expect([event.jsonrpc, event.id]).toStrictEqual(["2.0", "my-stream"]);
          expect(Object.keys(event.result), text).toHaveLength(1);
        }
      }
    },
  );

  streamingAgent(
    "I-6",
    "writes each event of a hello as one line of data, and lets nothing on the way keep it",
    async (stage) => {
      const { header, text } = await callRpc(stage.target, "SendStreamingMessage", {
        message: helloJson(stage),
      });
      expect(header.get("cache-control")).toMatch(/no-cache|no-store/);
      expect(text.split(/\r?\n/).filter((line) => line.startsWith("data:"))).toHaveLength(
        readAnySse(text).length,
      );
    },
  );

  streamingAgent("I-7", "answers in plain JSON when there is nothing to subscribe to", async ({ target }) => {
    const { header, json, text } = await callRpc(target, "SubscribeToTask", { id: newId() });
    expect(header.get("content-type"), text).toMatch(/^application\/json\b/);
    expect(json.error?.code, text).toBe(-32001);
  });

  anyAgent("I-13", "knows each of the eleven methods", async ({ target }) => {
    for (const { name } of Object.values(methods)) {
      const { json, text } = await callRpc(target, name, { id: newId(), taskId: newId() });
      expect([name, json.error?.code], text).not.toStrictEqual([name, -32601]);
      if (json.error !== undefined && json.error.code > -32100 && json.error.code < -32000) {
        expect(json.error.code, "codes of the protocol are -32001 to -32099").toBeGreaterThanOrEqual(-32099);
      }
    }
  });

  verifies("I-1", "answers nothing but POST", async ({ target }) => {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await target.fetchOn("jsonrpc", "", { method, headers: { "a2a-version": "1.0" } });
      expect([response.status, response.headers.get("allow")]).toStrictEqual([405, "POST"]);
    }
  });

  verifies("I-2", "repeats the id as it was, beside a result or an error", async ({ target }) => {
    for (const id of [1, 0, -7, 9_007_199_254_740_991, "a", "", "1", null]) {
      const good = await postRpc(target, call({ id }));
      expect(Object.keys(good.json).toSorted()).toStrictEqual(["id", "jsonrpc", "result"]);
      const bad = await postRpc(target, call({ id, method: "GetTask", params: { id: "nope" } }));
      expect(Object.keys(bad.json).toSorted()).toStrictEqual(["error", "id", "jsonrpc"]);
      for (const { json } of [good, bad]) {
        expect([json.jsonrpc, json.id]).toStrictEqual(["2.0", id]);
      }
    }
  });

  verifies("I-2", "needs no params for GetExtendedAgentCard", async ({ target }) => {
    const { json } = await postRpc(target, { jsonrpc: "2.0", id: 1, method: "GetExtendedAgentCard" });
    expect(json.result.name).toMatch(/\w/);
  });

  verifies(
    "I-2 I-13",
    "refuses other texts that are not requests, with the code for it and status 200",
    async ({ target }) => {
      for (const [body, code] of [
        ["", -32700],
        ["null", -32600],
        [call({ params: [] }), -32602],
        [call({ method: "tasks/get" }), -32009], // of version 0.3
        [call({ method: "constructor" }), -32601],
      ] as const) {
        const { status, json } = await postRpc(target, body);
        expect([body, status, json.error.code]).toStrictEqual([body, 200, code]);
        expect(json.error.message).toMatch(/\w/);
      }
    },
  );

  verifies("I-3", "returns the messages themselves", async ({ target, client }) => {
    const { id } = await sendTask(client, "ask Why?");
    expect((await callRpc(target, "CancelTask", { id })).result.status.state).toBe("TASK_STATE_CANCELED");
    for (const [words, member] of [
      ["task it", "task"],
      ["echo it", "message"],
    ] as const) {
      const { result } = await callRpc(target, "SendMessage", params(words));
      expect(Object.keys(result)).toStrictEqual([member]);
    }
  });

  verifies.where({ server: "push" })(
    "I-3",
    "returns webhooks themselves, and an empty object for a deletion",
    async ({ target, client }) => {
      const { id: taskId } = await sendTask(client, "task it");
      const config = { taskId, id: "hook", url: "https://example.com/hook" };
      expect((await callRpc(target, "CreateTaskPushNotificationConfig", config)).result).toStrictEqual(
        config,
      );
      const name = { taskId, id: "hook" };
      expect((await callRpc(target, "GetTaskPushNotificationConfig", name)).result).toStrictEqual(config);
      expect(
        (await callRpc(target, "ListTaskPushNotificationConfigs", { taskId })).result.configs,
      ).toStrictEqual([config]);
      expect((await callRpc(target, "DeleteTaskPushNotificationConfig", name)).result).toStrictEqual({});
    },
  );

  verifies.where({ server: "required-extension" })(
    "I-4",
    "reads version and extensions from headers of any case",
    async ({ target }) => {
      const headers = { "A2A-EXTENSIONS": requiredExtension };
      expect((await postRpc(target, call({}), headers)).json.result).toBeDefined();
      expect((await postRpc(target, call({}), anotherExtension)).json.error.code).toBe(-32008);
      expect((await postRpc(target, call({}), { ...headers, "a2a-version": "9.9" })).json.error.code).toBe(
        -32009,
      );
    },
  );

  verifies("I-5 I-6 I-12", "streams events that are whole responses, one line each", async ({ target }) => {
    for (const id of ["my-stream", 42]) {
      const body = call({ id, method: "SendStreamingMessage", params: params("task it") });
      for (const accept of ["text/event-stream", "*/*"]) {
        const { status, header, text } = await postRpc(target, body, { accept });
        expect(status).toBe(200);
        expect(header.get("content-type")).toMatch(/^text\/event-stream/);
        expect(header.get("cache-control")).toBe("no-cache");
        expect(header.get("x-accel-buffering")).toBe("no");
        const events = readSse(text);
        expect(events.map((event) => Object.keys(event.result))).toStrictEqual(
          casesOfWork.map((kind) => [kind]),
        );
        for (const event of events) {
          expect(Object.keys(event).toSorted()).toStrictEqual(["id", "jsonrpc", "result"]);
          expect([event.jsonrpc, event.id]).toStrictEqual(["2.0", id]);
        }
      }
    }
  });

  verifies("I-8", "takes no batches", async ({ target }) => {
    for (const batch of [[call({})], []]) {
      const { json } = await postRpc(target, batch);
      expect([json.id, json.error.code]).toStrictEqual([null, -32600]);
    }
  });

  verifies("I-9", "takes no requests without a proper id", async ({ target }) => {
    for (const id of [undefined, 1.5, {}, [], true]) {
      const { json } = await postRpc(target, call({ id }));
      expect([json.id, json.error.code]).toStrictEqual([null, -32600]);
    }
  });

  verifies("I-10", "refuses other media types with 415 and the error for it", async ({ target }) => {
    for (const type of ["text/plain", "application/xml", "application/a2a+json", "bogus"]) {
      const { status, json } = await postRpc(target, call({}), { "content-type": type });
      expect([status, json.error.code]).toStrictEqual([415, -32005]);
    }
  });

  verifies("I-11", "answers at both spellings of its URL, without a redirect", async ({ target }) => {
    for (const path of ["", "/"]) {
      const { status, json } = await postRpc(target, call({}), {}, path);
      expect([status, json.result.pageSize]).toStrictEqual([200, 50]);
    }
  });
});
