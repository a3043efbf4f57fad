// What callers of A2A 0.3 and before may write over JSON-RPC, and what they are told.
import { type ServeOptions, serve } from "@a2a-connect/node";
import { defineAgent } from "@a2a-connect/server";
import canonicalize from "canonicalize";
import { base64url, type FlattenedJWS, flattenedVerify } from "jose";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";

/** Repeats its message, and asks first when it is told to. */
const agent = defineAgent({
  card: {
    name: "Echo",
    extensions: [{ uri: "urn:example:known", description: "Known.", required: false }],
    securitySchemes: {
      key: { scheme: { case: "apiKeySecurityScheme", value: { location: "header", name: "X-Key" } } },
    },
    securityRequirements: [{ schemes: { key: { list: [] } } }],
  },
  async *execute(turn) {
    if (turn.text.endsWith("ask")) {
      yield turn.inputRequired("What?");
      return;
    }
    yield turn.working();
    yield turn.artifact({ name: "echo", parts: turn.message.parts });
  },
});

async function start(options: Partial<ServeOptions> = {}) {
  const directory = { file: ":memory:", push: { allow: ["127.0.0.1"] } };
  const served = await serve(agent, { ...directory, ...options });
  onTestFinished(() => served.close({ graceMs: 0 }));
  const post = (body: string, header: Record<string, string> = {}) =>
    fetch(`${served.url}/rpc`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...header },
    });
  return {
    url: served.url,
    post,
    async call(method: string, params?: unknown, header?: Record<string, string>) {
      const response = await post(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }), header);
      return { header: response.headers, body: await response.json() };
    },
  };
}

const message = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "hi" }] };
const withParts = (...parts: unknown[]) => ({ message: { ...message, parts } });

describe("a call of 0.3", () => {
  for (const [title, header, query] of [
    ["without a version", {}, ""],
    ["with an empty version", { "a2a-version": "" }, ""],
    ["with version 0.3", { "a2a-version": "0.3" }, ""],
    ["with version 0.3.0 in the query", {}, "?A2A-Version=0.3.0"],
  ] as const) {
    it(`${title} is answered in its form`, async () => {
      const { url } = await start();
      const response = await fetch(`${url}/rpc${query}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...header },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "message/send", params: { message } }),
      });
      expect(await response.json()).toMatchObject({
        result: { kind: "task", status: { state: "completed" } },
      });
    });
  }

  it("is not one that says 1.0, and one of 1.0 is not one of 0.3", async () => {
    const { call } = await start();
    for (const [method, version] of [
      ["message/send", "1.0"],
      ["SendMessage", undefined],
      ["SendMessage", "0.3"],
    ] as const) {
      const { body } = await call(
        method,
        { message: { ...message, role: method === "SendMessage" ? "ROLE_USER" : "user" } },
        version === undefined ? {} : { "a2a-version": version },
      );
      expect(body).toMatchObject({
        error: { code: -32009, message: expect.stringContaining('"A2A-Version: 1.0"') },
      });
    }
  });

  it("is refused by a server that offers 1.0 only", async () => {
    const { call, url } = await start({ protocolVersions: ["1.0"] });
    expect((await call("message/send", { message })).body).toMatchObject({ error: { code: -32009 } });
    expect(await (await fetch(`${url}/.well-known/agent-card.json`)).json()).not.toHaveProperty("url");
    expect((await fetch(`${url}/.well-known/agent.json`)).status).toBe(404);
  });

  it("names extensions as 0.3 does", async () => {
    const { call } = await start();
    const { header } = await call("message/send", { message }, { "x-a2a-extensions": "urn:example:known" });
    expect(header.get("x-a2a-extensions")).toBe("urn:example:known");
    expect(header.get("a2a-extensions")).toBeNull();
  });

  it("keeps the promise of its idempotency key", async () => {
    const { call } = await start();
    const key = { "idempotency-key": "0123456789abcdef" };
    const first = await call("message/send", { message }, key);
    const second = await call("message/send", { message }, key);
    expect(second.body.result.id).toBe(first.body.result.id);
  });

  it("keeps that promise for a message without an id, too", async () => {
    const { call } = await start();
    const key = { "idempotency-key": "0123456789abcdef" };
    const send = async (text: string) =>
      (await call("message/send", { message: { role: "user", parts: [{ text }] } }, key)).body;
    const { result } = await send("hi");
    expect((await send("hi")).result).toEqual(result);
    expect((await send("ho")).error.code).toBe(-32050);
  });
});

describe("input below 1.0", () => {
  for (const [title, parts, echoed] of [
    ["parts by type", [{ type: "text", text: "hi" }], [{ kind: "text", text: "hi" }]],
    ["parts without a kind", [{ text: "hi" }], [{ kind: "text", text: "hi" }]],
    [
      "files that are flat",
      [{ type: "file", mimeType: "text/plain", uri: "https://example.com/" }],
      [{ kind: "file", file: { mimeType: "text/plain", uri: "https://example.com/" } }],
    ],
    [
      "files by type",
      [{ type: "file", file: { name: "a", mimeType: "text/plain", bytes: "aGk=" } }],
      [{ kind: "file", file: { name: "a", mimeType: "text/plain", bytes: "aGk=" } }],
    ],
    ["nulls", [{ kind: "text", text: "hi", metadata: null }], [{ kind: "text", text: "hi" }]],
  ] as const) {
    it(`may have ${title}`, async () => {
      const { call } = await start();
      const { body } = await call("message/send", withParts(...parts));
      expect(body.result.artifacts[0].parts).toEqual(echoed);
    });
  }

  it("may have a message without an id", async () => {
    const { call } = await start();
    const { body } = await call("message/send", { message: { role: "user", parts: [{ text: "hi" }] } });
    expect(body.result.history[0].messageId).toMatch(/./);
  });

  for (const [method, params, field] of [
    ["message/send", {}, "message"],
    ["message/send", { message: "hi" }, "message"],
    ["message/send", { message: { ...message, role: "ROLE_USER" } }, "message.role"],
    ["message/send", { message: { ...message, role: undefined } }, "message.role"],
    ["message/send", { message: { ...message, parts: [] } }, "message.parts"],
    ["message/send", { message: { ...message, parts: "hi" } }, "message.parts"],
    ["message/send", { message: { ...message, messageId: 7 } }, "message.messageId"],
    ["message/send", withParts("hi"), "message.parts[0]"],
    ["message/send", withParts({ kind: "video" }), "message.parts[0].kind"],
    ["message/send", withParts({ kind: "text" }), "message.parts[0].text"],
    ["message/send", withParts({ text: "a" }, { kind: "text", text: 1 }), "message.parts[1].text"],
    ["message/send", withParts({ kind: "file", file: {} }), "message.parts[0].file"],
    ["message/send", withParts({ kind: "file", file: { bytes: "?" } }), "message.parts[0].file.bytes"],
    [
      "message/send",
      withParts({ kind: "file", file: { bytes: "aGk=", name: 1 } }),
      "message.parts[0].file.name",
    ],
    ["message/send", withParts({ kind: "data", data: [1] }), "message.parts[0].data"],
    [
      "message/send",
      { message, configuration: { pushNotificationConfig: { url: "no url" } } },
      "configuration.pushNotificationConfig.url",
    ],
    [
      "message/send",
      {
        message,
        configuration: { pushNotificationConfig: { url: "http://127.0.0.1/", authentication: {} } },
      },
      "configuration.pushNotificationConfig.authentication.schemes",
    ],
    [
      "message/send",
      {
        message,
        configuration: {
          pushNotificationConfig: { url: "http://127.0.0.1/", authentication: { schemes: [5] } },
        },
      },
      "configuration.pushNotificationConfig.authentication.schemes",
    ],
    ["message/send", { message, configuration: { historyLength: -1 } }, "configuration.historyLength"],
    ["message/send", { message, configuration: { blocking: "no" } }, "configuration.blocking"],
    ["tasks/get", {}, "id"],
    ["tasks/get", { id: 5 }, "id"],
    ["tasks/pushNotificationConfig/set", { taskId: "t" }, "pushNotificationConfig"],
    [
      "tasks/pushNotificationConfig/set",
      { taskId: "t", pushNotificationConfig: {} },
      "pushNotificationConfig.url",
    ],
    ["tasks/pushNotificationConfig/delete", { id: "t" }, "pushNotificationConfigId"],
    ["tasks/pushNotificationConfig/list", {}, "id"],
  ] as const) {
    it(`of ${method} is told that ${field} is wrong: ${JSON.stringify(params).slice(0, 90)}`, async () => {
      const { call } = await start();
      const { body } = await call(method, params);
      expect(body.error).toMatchObject({
        code: -32602,
        message: expect.stringContaining(`${field}: `),
        data: [{}, { fieldViolations: [{ field }] }],
      });
    });
  }

  it("has the limits of today", async () => {
    const { post, call } = await start({ wires: { maxValues: 1_000, maxJsonDepth: 20 } });
    const many = `{"jsonrpc":"2.0","id":9,"method":"message/send","params":{"message":{"parts":[${"0,".repeat(1_000)}0]}}}`;
    expect(await (await post(many)).json()).toMatchObject({
      id: 9,
      error: { code: -32602, message: expect.stringContaining("message.parts") },
    });
    let deep: unknown = {};
    for (let depth = 0; depth < 30; depth += 1) deep = { a: deep };
    const { body } = await call("message/send", { message, metadata: deep });
    expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining("metadata.a.a") });
  });
});

describe("push configs of 0.3", () => {
  const url = "http://127.0.0.1:9/hook";

  it("need no id: a task has one, and another replaces it", async () => {
    const { call } = await start();
    const { body } = await call("message/send", { message: { ...message, parts: [{ text: "ask" }] } });
    const taskId = body.result.id;
    const read = async () => (await call("tasks/pushNotificationConfig/get", { id: taskId })).body;
    expect(await read()).toMatchObject({ error: { code: -32001 } });
    const set = (token: string) =>
      call("tasks/pushNotificationConfig/set", { taskId, pushNotificationConfig: { url, token } });
    await set("one");
    expect((await set("two")).body.result).toEqual({
      taskId,
      pushNotificationConfig: { id: taskId, url, token: "two" },
    });
    expect((await read()).result.pushNotificationConfig.token).toBe("two");
    expect((await call("tasks/pushNotificationConfig/list", { id: taskId })).body.result).toHaveLength(1);
    const named = { id: taskId, pushNotificationConfigId: taskId };
    expect((await call("tasks/pushNotificationConfig/delete", named)).body).toEqual({
      jsonrpc: "2.0",
      id: 7,
      result: null,
    });
  });

  it("that come with messages need none either: those of later messages replace it", async () => {
    const { call } = await start({ push: { allow: ["127.0.0.1"], maxConfigsPerTask: 1 } });
    const ask = async (token: string, more: object = {}) => {
      const configuration = { pushNotificationConfig: { url, token } };
      const asking = { ...message, ...more, parts: [{ text: "ask" }] };
      return (await call("message/send", { message: asking, configuration })).body.result.id;
    };
    const taskId = await ask("one");
    await ask("two", { taskId });
    expect((await call("tasks/pushNotificationConfig/list", { id: taskId })).body.result).toEqual([
      { taskId, pushNotificationConfig: { id: taskId, url, token: "two" } },
    ]);
  });

  it("are listed whole", async () => {
    const { call } = await start({ push: { allow: ["127.0.0.1"], maxConfigsPerTask: 150 } });
    const { body } = await call("message/send", { message: { ...message, parts: [{ text: "ask" }] } });
    const taskId = body.result.id;
    for (let id = 0; id < 120; id += 1) {
      await call("tasks/pushNotificationConfig/set", {
        taskId,
        pushNotificationConfig: { id: `c${id}`, url },
      });
    }
    const { result } = (await call("tasks/pushNotificationConfig/list", { id: taskId })).body;
    expect(result).toHaveLength(120);
  });
});

describe("a stream of 0.3", () => {
  const events = (text: string) => text.split("\n\n").filter((event) => event.startsWith("id:"));

  it("goes on after the event that the caller has seen, and ends at the question", async () => {
    const { call, post } = await start();
    const { body } = await call("message/send", { message: { ...message, parts: [{ text: "ask" }] } });
    const { id } = body.result;
    await call("message/send", { message: { ...message, taskId: id, parts: [{ text: "ask" }] } });
    const params = { jsonrpc: "2.0", id: 1, method: "tasks/resubscribe", params: { id } };
    const response = await post(JSON.stringify(params), { "last-event-id": "1" });
    const seen = events(await response.text());
    const results = seen.map((event) => JSON.parse(event.slice(event.indexOf("{"))).result);
    expect(seen[0]).toMatch(/^id: 2\n/);
    const asked = results.filter(({ status }) => status?.state === "input-required");
    expect(asked.map(({ final }) => final)).toEqual([false, true]);
    expect(results.at(-1)).toBe(asked.at(-1));
  });

  it("holds nothing of its task for the questions that were answered before", async () => {
    const { call, post } = await start({ maxUnreadBytes: 2_000_000 });
    const large = { kind: "text", text: "x".repeat(150_000) };
    const { body } = await call("message/send", withParts(large, { kind: "text", text: "ask" }));
    const { id } = body.result;
    const answer = { ...message, taskId: id, parts: [{ kind: "text", text: "ask" }] };
    for (let answered = 0; answered < 8; answered += 1) await call("message/send", { message: answer });
    const read = async () => {
      const params = { jsonrpc: "2.0", id: 1, method: "tasks/resubscribe", params: { id } };
      return events(await (await post(JSON.stringify(params), { "last-event-id": "1" })).text()).at(-1);
    };
    for (const last of await Promise.all([read(), read(), read()])) expect(last).toContain('"final":true');
  });

  it("of a task that has ended is the task, and one of no task an error", async () => {
    const { call, post } = await start();
    const { result } = (await call("message/send", { message })).body;
    const resubscribe = async (id: string) => {
      const response = await post(
        JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tasks/resubscribe", params: { id } }),
      );
      const text = await response.text();
      return JSON.parse(text.slice(text.indexOf("{")));
    };
    expect((await resubscribe(result.id)).result).toEqual(result);
    expect((await resubscribe("none")).error.code).toBe(-32001);
  });
});

describe("a card for both versions", () => {
  it("has the members of both, and is also where the first callers look", async () => {
    const { url } = await start();
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
    expect(card).toMatchObject({
      url: `${url}/rpc`,
      protocolVersion: "0.3.0",
      preferredTransport: "JSONRPC",
      security: [{ key: [] }],
      securityRequirements: [{ schemes: { key: {} } }],
      securitySchemes: {
        key: {
          type: "apiKey",
          in: "header",
          name: "X-Key",
          apiKeySecurityScheme: { location: "header", name: "X-Key" },
        },
      },
      supportedInterfaces: expect.arrayContaining([
        { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ]),
    });
    expect(
      card.supportedInterfaces.every((each: { protocolVersion: string }) => each.protocolVersion === "1.0"),
    ).toBe(true);
    expect(await (await fetch(`${url}/.well-known/agent.json`)).json()).toEqual(card);
  });
});

describe("a signed card", () => {
  let keys: CryptoKeyPair;
  beforeAll(async () => {
    keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  });
  const startSigned = async (options: Partial<ServeOptions> = {}) => {
    const signing = { keys: [{ key: await crypto.subtle.exportKey("jwk", keys.privateKey) }] };
    const { url } = await start({ signing, ...options });
    return async (path: string, version?: string) => {
      const header: Record<string, string> = version === undefined ? {} : { "a2a-version": version };
      const response = await fetch(url + path, { headers: header });
      return { url, card: await response.json(), vary: response.headers.get("vary")?.toLowerCase() };
    };
  };
  /** As RFC 7515 has it, and nothing of ours: the payload is RFC 8785 over the card without its signatures. */
  const verify = async ({
    signatures: [signature],
    ...card
  }: Record<string, unknown> & { signatures: FlattenedJWS[] }) =>
    flattenedVerify(
      {
        ...signature,
        signature: signature?.signature ?? "",
        payload: base64url.encode(canonicalize(card) ?? ""),
      },
      keys.publicKey,
    );

  it("stays the card of 1.0, and that of 0.3, signed as well, is given to those who say so", async () => {
    const get = await startSigned();
    const signed = await get("/.well-known/agent-card.json");
    expect(signed.card).not.toHaveProperty("url");
    await verify(signed.card);
    const older = await get("/.well-known/agent-card.json", "0.3");
    expect(older.card).toMatchObject({ url: `${older.url}/rpc`, protocolVersion: "0.3.0" });
    expect(older.card).not.toHaveProperty("supportedInterfaces");
    const { protectedHeader } = await verify(older.card);
    expect(protectedHeader).toMatchObject({ alg: "ES256", jku: `${older.url}/.well-known/jwks.json` });
    expect((await get("/.well-known/agent.json")).card).toEqual(older.card);
    expect((await get("/.well-known/agent-card.json", "1.0")).card).toEqual(signed.card);
    expect([signed.vary, older.vary]).toEqual(Array(2).fill("accept-encoding, a2a-version"));
    await expect(verify({ ...older.card, url: "https://other.example" })).rejects.toThrow("signature");
  });

  it("is that of 0.3 for requests without a version where an option says so", async () => {
    const get = await startSigned({ signedCardVersion: "0.3" });
    const older = await get("/.well-known/agent-card.json");
    expect(older.card).toMatchObject({ protocolVersion: "0.3.0", signatures: [{}] });
    const signed = await get("/.well-known/agent-card.json", "1.0");
    expect(signed.card).toMatchObject({ supportedInterfaces: [{}, {}, {}, {}, {}], signatures: [{}] });
  });
});
