import { json, text } from "@a2a-connect/core";
import { findMissingFields, isRequiredField } from "@a2a-connect/core/internal";
import {
  AgentCardSchema,
  ListTasksResponseSchema,
  Role,
  SendMessageResponseSchema,
  StreamResponseSchema,
  TaskSchema,
} from "@a2a-connect/proto";
import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { newId, readAll, sendTask, toRequest } from "../calls.ts";
import { expect } from "../expect.ts";
import { hello, helloJson, helloPart, rawHelloTask, settledTask } from "../hello.ts";
import { callRaw, capture, memberNames, type RawAnswer, type RawRequest, sendRaw } from "../raw-calls.ts";
import { jsonWires, NotApplicable, type ScenarioGroup, type Stage, scenarios } from "../scenario.ts";

const user = (rest: RawRequest = {}): RawRequest => ({
  messageId: newId(),
  role: "ROLE_USER",
  parts: [{ text: "ask Why?" }],
  ...rest,
});

/** H */
export const jsonRules: ScenarioGroup = scenarios("H JSON", ({ verifies, anyAgent }) => {
  const overJson = verifies.where({ places: jsonWires });

  anyAgent("H-2", "reads the proto's own names in a hello", async (stage) => {
    const { messageId, ...message } = helloJson(stage);
    const task = await rawHelloTask(
      stage,
      { ...message, messageId: undefined, message_id: messageId },
      {
        history_length: 0,
        return_immediately: false,
      },
    );
    expect(task.history ?? []).toStrictEqual([]);
  });

  anyAgent("H-3", "reads a role by its number", async (stage) => {
    expectAnswer(await sendRaw(stage, helloJson(stage, { role: 1 })));
  });

  for (const [name, refused] of [
    [
      "a state that does not exist",
      (stage: Stage) => callRaw(stage, "listTasks", { status: "TASK_STATE_RUNNING" }),
    ],
    ["a role that does not exist", (stage: Stage) => sendRaw(stage, helloJson(stage, { role: "user" }))],
    ["a size that is a word", (stage: Stage) => callRaw(stage, "listTasks", { pageSize: "five" })],
    [
      "a time that is a word",
      (stage: Stage) => callRaw(stage, "listTasks", { statusTimestampAfter: "yesterday" }),
    ],
  ] as const) {
    anyAgent.where({ places: jsonWires })("H-3 A-13", `calls ${name} invalid`, async (stage) =>
      expectInvalid(await refused(stage)),
    );
  }

  anyAgent(
    "H-4",
    "writes the time of a hello in UTC, and reads times with and without a fraction",
    async (stage) => {
      const { result } = await callRaw(stage, "getTask", { id: (await settledTask(stage)).id });
      const { timestamp } = result.status;
      expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/);
      const before = new Date(Date.parse(timestamp) - 60_000).toISOString();
      for (const bound of [before, before.replace("Z", "000000Z"), before.replace(/\.\d+Z$/, "Z")]) {
        const found = await callRaw(stage, "listTasks", {
          contextId: result.contextId,
          statusTimestampAfter: bound,
        });
        expect([bound, found.result?.tasks?.map(({ id }) => id)], found.text).toStrictEqual([
          bound,
          [result.id],
        ]);
      }
    },
  );

  anyAgent(
    "H-5",
    "reads bytes in each alphabet of base64, and writes them in the standard one",
    async (stage) => {
      for (const raw of ["+/8=", "-_8=", "-_8", "+/8"]) {
        const parts = [helloJson(stage)["parts"], { raw, mediaType: "text/plain" }].flat();
        const { history } = await rawHelloTask(stage, { parts });
        const kept = history?.flatMap((message) => message.parts).find((part) => "raw" in part);
        if (history === undefined)
          throw new NotApplicable("the task of a hello has no history to find it in");
        expect([raw, kept?.["raw"]]).toStrictEqual([raw, "+/8="]);
      }
    },
  );

  anyAgent("H-6", "ignores members that it does not know in a hello, at every depth", async (stage) => {
    const [part] = [helloJson(stage)["parts"]].flat();
    const parts = [{ ...(part as object), later: [1] }];
    expectAnswer(await sendRaw(stage, helloJson(stage, { parts, later: { a: 1 } }), { later: true }));
  });

  anyAgent("H-7 J-7", "has every REQUIRED field in its answers to a hello", async (stage) => {
    const { client } = stage;
    const { id, contextId } = await settledTask(stage);
    expect([
      ...findMissingFields(SendMessageResponseSchema, await client.sendMessage(hello(stage))),
      ...findMissingFields(TaskSchema, await client.getTask({ id })),
      ...findMissingFields(
        ListTasksResponseSchema,
        await client.listTasks({ contextId, includeArtifacts: true }),
      ),
    ]).toStrictEqual([]);
  });

  anyAgent.where({ when: ["streaming"] })(
    "H-7 J-7",
    "has every REQUIRED field in every event of a hello",
    async (stage) => {
      for (const event of await readAll(stage.client.sendStreamingMessage(hello(stage)))) {
        expect(findMissingFields(StreamResponseSchema, event)).toStrictEqual([]);
      }
    },
  );

  anyAgent.where({ places: jsonWires })(
    "H-9 H-14",
    "calls a part of a hello invalid that has two contents",
    async (stage) => {
      const part = { text: "a", url: "https://example.com/" };
      expectInvalid(await sendRaw(stage, helloJson(stage, { parts: [part] })));
    },
  );

  anyAgent("H-9", "accepts empty text as a content", async (stage) => {
    const parts = [helloPart(stage), text("")];
    const { history } = await settledTask(stage, { parts });
    const [said] = history.filter(({ role }) => role === Role.USER);
    if (said === undefined) throw new NotApplicable("the task of a hello has no history to find it in");
    expect(said.parts.at(-1)?.content).toStrictEqual({ case: "text", value: "" });
  });

  anyAgent("H-11", "treats null as a missing member of a hello", async (stage) => {
    const none = { contextId: null, taskId: null, metadata: null, extensions: null };
    expectAnswer(await sendRaw(stage, helloJson(stage, none), { historyLength: null }));
  });

  anyAgent("H-12", "reads small integers from decimal strings", async (stage) => {
    const { result, text: body } = await callRaw(stage, "listTasks", { contextId: newId(), pageSize: "5" });
    expect(result?.pageSize, body).toBeDefined();
    expect(result.pageSize).toBeGreaterThan(0);
    expect(result.pageSize).toBeLessThanOrEqual(5);
  });

  verifies("H-1", "writes every member in lowerCamelCase", async (stage) => {
    const answers = [
      await capture(stage, (client) => client.sendMessage(toRequest("parts"))),
      await capture(stage, (client) => client.listTasks({ includeArtifacts: true, pageSize: 5 })),
      await capture(stage, (client) => client.getExtendedAgentCard({})),
    ];
    const names = new Set(answers.flatMap(({ result }) => memberNames(result)));
    expect(names.size).toBeGreaterThan(20);
    for (const name of names) {
      expect(name).toMatch(/^[a-z][a-zA-Z0-9]*$/);
    }
    expect(names).toContain("contextId");
    expect(names).toContain("artifactId");
    expect(names).toContain("nextPageToken");
    expect(names).toContain("supportedInterfaces");
  });

  verifies("H-2", "reads the proto's own names", async (stage) => {
    const contextId = newId();
    const message = {
      message_id: newId(),
      context_id: contextId,
      role: "ROLE_USER",
      parts: [{ text: "task it", media_type: "text/plain" }],
    };
    const sent = await sendRaw(stage, message, { history_length: 0, return_immediately: false });
    expect(sent.result.task.contextId).toBe(contextId);
    expect(sent.result.task).not.toHaveProperty("history");
    const list = await callRaw(stage, "listTasks", {
      context_id: contextId,
      page_size: 7,
      include_artifacts: true,
    });
    expect(list.result).toMatchObject({ pageSize: 7, totalSize: 1, tasks: [{ artifacts: [{}] }] });
    const { id } = sent.result.task;
    const got = await callRaw(stage, "getTask", { id, history_length: 0 });
    expect(got.result.id).toBe(id);
    expect(got.result).not.toHaveProperty("history");
  });

  verifies("H-3", "writes enums by name, and reads names and numbers", async (stage) => {
    for (const role of ["ROLE_USER", 1]) {
      const { result } = await sendRaw(stage, user({ role }));
      expect(result.task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(result.task.history[0]?.role).toBe("ROLE_USER");
    }
  });

  verifies("H-3", "refuses an enum number that does not exist", async (stage) => {
    expectInvalid(await callRaw(stage, "listTasks", { status: 77 }));
  });

  verifies("H-4", "writes times in UTC with a Z", async (stage) => {
    const { result } = await sendRaw(stage, user());
    expect(result.task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/);
    expect(Math.abs(Date.parse(result.task.status.timestamp) - Date.now())).toBeLessThan(600_000);
  });

  verifies("H-4", "reads times of any precision and offset", async (stage) => {
    const { result } = await sendRaw(stage, user({ contextId: newId() }));
    const { contextId, status } = result.task;
    const ms = Date.parse(status.timestamp);
    const local = (offset: string, minutes: number) =>
      new Date(ms + minutes * 60_000).toISOString().replace("Z", offset);
    for (const bound of [
      status.timestamp,
      new Date(ms).toISOString().replace("Z", "000000Z"),
      new Date(Math.floor(ms / 1000) * 1000).toISOString().replace(".000Z", "Z"),
      local("+02:00", 120),
      local("-05:30", -330),
    ]) {
      const found = await callRaw(stage, "listTasks", { contextId, statusTimestampAfter: bound });
      expect([bound, found.result?.totalSize]).toStrictEqual([bound, 1]);
    }
    const later = new Date(ms + 1).toISOString();
    expect(
      (await callRaw(stage, "listTasks", { contextId, statusTimestampAfter: later })).result.totalSize,
    ).toBe(0);
  });

  verifies(
    "H-5",
    "writes bytes as padded base64 of the standard alphabet, and reads the others",
    async (stage) => {
      for (const raw of ["+/8=", "-_8=", "-_8", "+/8"]) {
        const { result } = await sendRaw(stage, user({ parts: [{ text: "ask Why?" }, { raw }] }));
        expect(result.task.history[0]?.parts[1]?.["raw"]).toBe("+/8=");
      }
      expectInvalid(await sendRaw(stage, user({ parts: [{ raw: "not base64!" }] })));
    },
  );

  verifies("H-6", "ignores members that it does not know, at every depth", async (stage) => {
    const { result } = await sendRaw(
      stage,
      user({ later: { a: 1 }, parts: [{ text: "task it", later: [1] }] }),
      { later: true, historyLength: 0 },
    );
    expect(result.task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(result.task).not.toHaveProperty("history");
  });

  verifies("H-7", "has every REQUIRED field in every answer", async ({ client }) => {
    const response = await client.sendMessage(toRequest("parts"));
    const direct = await client.sendMessage(toRequest("echo hello"));
    const asked = await sendTask(client, "ask Why?");
    const answers = [
      findMissingFields(SendMessageResponseSchema, response),
      findMissingFields(SendMessageResponseSchema, direct),
      findMissingFields(TaskSchema, await client.getTask({ id: asked.id })),
      findMissingFields(TaskSchema, await client.cancelTask({ id: asked.id })),
      findMissingFields(ListTasksResponseSchema, await client.listTasks({ contextId: asked.contextId })),
      findMissingFields(AgentCardSchema, await client.getExtendedAgentCard({})),
      ...(await readAll(client.sendStreamingMessage(toRequest("stream 2")))).map((event) =>
        findMissingFields(StreamResponseSchema, event),
      ),
    ];
    expect(answers.length).toBeGreaterThan(8);
    expect(answers.flat()).toStrictEqual([]);
  });

  overJson("H-7 H-8", "writes REQUIRED members even when they are empty", async (stage) => {
    const { result } = await capture(stage, (client) => client.getExtendedAgentCard({}));
    const required = AgentCardSchema.fields.filter(isRequiredField).map(({ jsonName }) => jsonName);
    expect(Object.keys(result)).toStrictEqual(expect.arrayContaining(required));
    const configs = await capture(stage, (client) => client.listTasks({ contextId: newId() }));
    expect(configs.text).toContain('"nextPageToken":""');
    expect(configs.text).toContain('"totalSize":0');
    expect(configs.text).toContain('"tasks":[]');
  });

  verifies("H-8", "leaves out what has no value", async (stage) => {
    const { result } = await sendRaw(stage, user());
    const present = ["contextId", "history", "id", "metadata", "status"];
    expect(Object.keys(result.task).toSorted()).toStrictEqual(present);
    expect(result.task.history).toStrictEqual([
      {
        messageId: expect.any(String),
        contextId: result.task.contextId,
        taskId: result.task.id,
        role: "ROLE_USER",
        parts: [{ text: "ask Why?" }],
      },
    ]);
  });

  overJson("H-9 H-14", "writes empty text, and refuses parts with no or two contents", async (stage) => {
    const { result } = await sendRaw(stage, user({ parts: [{ text: "ask Why?" }, { text: "" }] }));
    expect(result.task.history[0]?.parts[1]).toStrictEqual({ text: "" });
    expectInvalid(await sendRaw(stage, user({ parts: [{}] })));
    expectInvalid(await sendRaw(stage, user({ parts: [{ text: "a", data: null }] })));
  });

  const values: JsonValue[] = [
    null,
    true,
    0,
    -1.5,
    "words",
    [],
    [null, { a: [] }],
    {},
    { a_b: null, "x y": 1 },
  ];
  verifies("H-10 H-13", "gives back any data as it was", async ({ client }) => {
    const parts = [text("ask Why?"), ...values.map((value) => json(value))];
    const { id } = await sendTask(client, "", { parts });
    const { history } = await client.getTask({ id });
    const returned = history[0]?.parts
      .slice(1)
      .map(({ content }) => (content.case === "data" ? toJson(ValueSchema, content.value) : content.case));
    expect(returned).toStrictEqual(values);
  });

  overJson("H-10 H-13", "writes any data as it was, null too", async (stage) => {
    const parts = [{ text: "ask Why?" }, ...values.map((data) => ({ data }))];
    const { result } = await sendRaw(stage, user({ parts }));
    expect(result.task.history[0]?.parts).toStrictEqual(parts);
  });

  verifies("H-11", "treats null as a missing member", async (stage) => {
    const { result } = await sendRaw(
      stage,
      user({ contextId: null, taskId: null, metadata: null, extensions: null }),
      {
        historyLength: null,
      },
    );
    expect(result.task.contextId).toMatch(/./);
    expect(result.task.history).toHaveLength(1);
  });

  verifies("H-12", "writes small integers as numbers, and reads decimal strings too", async (stage) => {
    for (const pageSize of [5, "5"]) {
      expect((await callRaw(stage, "listTasks", { contextId: newId(), pageSize })).result.pageSize).toBe(5);
    }
    expectInvalid(await callRaw(stage, "listTasks", { pageSize: 1.5 }));
  });

  const metadata = {
    a_b: null,
    "x y": [1, { c_d: false, "": [] }],
    "https://example.com/v1": { deep: { er: "" } },
  };
  anyAgent("H-13 H-10", "gives back the metadata of a hello as it was", async (stage) => {
    const messageId = newId();
    const { id } = await settledTask(stage, { messageId, metadata });
    const { history } = await stage.client.getTask({ id });
    const said = history.find((message) => message.messageId === messageId);
    if (said === undefined) throw new NotApplicable("the task of a hello has no history to find it in");
    expect(said.metadata).toStrictEqual(metadata);
  });

  overJson("H-13", "writes metadata as it was", async (stage) => {
    const { result } = await sendRaw(stage, user({ metadata }));
    expect(result.task.history[0]?.metadata).toStrictEqual(metadata);
  });

  verifies("H-14", "refuses both spellings of one field", async (stage) => {
    expectInvalid(await sendRaw(stage, user({ contextId: "a", context_id: "b" })));
    expectInvalid(await sendRaw(stage, user({ contextId: "a", context_id: "a" })));
  });
});

/** A task or a message. */
function expectAnswer({ result, text: body }: RawAnswer): void {
  expect(result?.task ?? result?.["message"], body).toBeDefined();
}

/** InvalidParams on either wire. */
function expectInvalid({ status, error, json, text: body }: RawAnswer): void {
  // Which status goes with an error of JSON-RPC is left open (I-10).
  if (json.jsonrpc === undefined) expect([status, error?.code], body).toStrictEqual([400, 400]);
  else expect(error?.code, body).toBe(-32602);
}
