// What a refused caller is told in the bytes of each wire, and what the card says that callers need.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { apiKey, basic, bearerJwt, hashApiKey } from "@a2a-connect/auth";
import { Access } from "@a2a-connect/auth/internal";
import { text } from "@a2a-connect/core";
import { serve } from "@a2a-connect/node";
import { defineAgent } from "@a2a-connect/server";
import { type AgentHarness, startAgentHarness } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatFrame, frameTypes, openSilentHttp2 } from "../../packages/node/test-support/http2-frames.ts";
import { openRawConnection } from "../../packages/node/test-support/raw-connection.ts";
import { audience, createIssuer, type TestIssuer } from "./issuer.ts";

let issuer: TestIssuer;
let harness: AgentHarness;
let noScope: string;

const agent = defineAgent({
  card: {
    name: "Guarded",
    skills: [
      { id: "book", name: "Book", description: "Books.", scopes: ["booking:write"] },
      { id: "look", name: "Look", description: "Looks." },
    ],
  },
  *execute(turn) {
    yield turn.reply(JSON.stringify(turn.caller));
  },
});

beforeAll(async () => {
  issuer = await createIssuer();
  const keys = { carol: { hash: await hashApiKey("carols-key"), tenant: "acme" } };
  harness = await startAgentHarness({
    agent,
    protocolVersions: ["1.0", "0.3"],
    auth: {
      gates: {
        token: bearerJwt({ issuer: issuer.issuer, audience, keys: issuer.keys, claims: ["email", "absent"] }),
        header: apiKey({ header: "X-Key", keys }),
        query: apiKey({ query: "key", keys: () => keys }),
        cookie: apiKey({ cookie: "key", keys }),
      },
    },
  });
  noScope = await issuer.token("alice", { claims: { scope: "other" } });
});
afterAll(() => harness[Symbol.asyncDispose]());

const message = (text = "hi", metadata = {}) => ({
  messageId: crypto.randomUUID(),
  role: "ROLE_USER",
  parts: [{ text }],
  metadata,
});
const rpc = (
  method: string,
  headers: Record<string, string> = {},
  params: object = { message: message() },
  query = "",
) =>
  harness.fetch(`/rpc${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: "seven", method, params }),
  });
const rest = (headers: Record<string, string> = {}, path = "/rest/message:send") =>
  harness.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
    body: JSON.stringify({ message: message() }),
  });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const challenge = () =>
  `Bearer resource_metadata="${harness.url}/.well-known/oauth-protected-resource", ApiKey in="header", name="X-Key", ApiKey in="query", name="key", ApiKey in="cookie", name="key"`;
const info = (reason: string, metadata?: object) => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain: "a2a-connect",
  ...(metadata && { metadata }),
});

describe("a caller without credentials", () => {
  for (const method of ["SendMessage", "SendStreamingMessage", "message/send"]) {
    it(`gets 401, a challenge and -32055 over JSON-RPC: ${method}`, async () => {
      const older = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "hi" }] };
      const response = method.includes("/")
        ? await rpc(method, { "a2a-version": "0.3" }, { message: older })
        : await rpc(method);
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, challenge()]);
      expect(await response.json()).toEqual({
        jsonrpc: "2.0",
        id: "seven",
        error: { code: -32055, message: "the call needs credentials", data: [info("UNAUTHENTICATED")] },
      });
    });
  }

  for (const path of ["/rest/message:send", "/rest/message:stream"]) {
    it(`gets 401 and a challenge over HTTP+JSON: ${path}`, async () => {
      const response = await rest({}, path);
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, challenge()]);
      expect(await response.json()).toEqual({
        error: {
          code: 401,
          status: "UNAUTHENTICATED",
          message: "the call needs credentials",
          details: [info("UNAUTHENTICATED")],
        },
      });
    });
  }

  for (const [name, type] of [
    ["Connect", "application/json"],
    ["gRPC-Web", "application/grpc-web+proto"],
  ] as const) {
    it(`gets the code and a challenge over ${name}`, async () => {
      const body = type === "application/json" ? "{}" : new Uint8Array(5);
      const headers = { "content-type": type, "a2a-version": "1.0" };
      const response = await harness.fetch("/lf.a2a.v1.A2AService/ListTasks", {
        method: "POST",
        headers,
        body,
      });
      const text = await response.text();
      if (name === "Connect") {
        expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, challenge()]);
        expect(JSON.parse(text)).toMatchObject({
          code: "unauthenticated",
          message: "the call needs credentials",
        });
      } else {
        expect(text).toContain("grpc-status: 16");
        expect(text).toContain(`www-authenticate: ${challenge()}`);
      }
    });
  }

  it("sees the card, which says what is needed", async () => {
    const card = await (await harness.fetch("/.well-known/agent-card.json")).json();
    expect(card.securitySchemes).toMatchObject({
      token: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } },
      header: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
      query: { apiKeySecurityScheme: { location: "query", name: "key" } },
      cookie: { apiKeySecurityScheme: { location: "cookie", name: "key" } },
    });
    const scopes = ["a2a:tasks:create", "a2a:tasks:read"];
    const others = ["header", "query", "cookie"].map((name) => ({ schemes: { [name]: {} } }));
    expect(card.securityRequirements).toEqual([{ schemes: { token: { list: scopes } } }, ...others]);
    const [book, look] = card.skills;
    expect(book.securityRequirements[0]).toEqual({
      schemes: { token: { list: [...scopes, "booking:write"] } },
    });
    expect([look.securityRequirements, book.scopes]).toEqual([undefined, undefined]);
  });

  it("may not be a page that asks whether it may send the key's header: it may", async () => {
    const response = await harness.fetch("/rpc", {
      method: "OPTIONS",
      headers: { origin: harness.url, "access-control-request-method": "POST" },
    });
    expect(response.headers.get("access-control-allow-headers")).toContain("X-Key");
  });
});

describe("a request with two Authorization fields", () => {
  it("is refused over HTTP/1.1, whichever of them is right", async () => {
    const right = await issuer.token("alice");
    for (const pair of [
      [right, "wrong"],
      ["wrong", right],
      [right, right],
    ]) {
      const { hostname, port } = new URL(harness.url);
      const socket = connect(Number(port), hostname === "localhost" ? "127.0.0.1" : hostname);
      const fields = pair.map((token) => `Authorization: Bearer ${token}\r\n`).join("");
      socket.end(
        `GET /rest/tasks HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\n${fields}Connection: close\r\n\r\n`,
      );
      const answer = await textOf(socket);
      expect(answer).toContain("401");
      expect(answer).toContain("more than one Authorization field");
    }
  });

  it("is refused over HTTP/2", async () => {
    using connection = await openRawConnection(Number(new URL(harness.url).port));
    await openSilentHttp2(connection);
    const literal = (...texts: string[]) => texts.flatMap((each) => [each.length, ...Buffer.from(each)]); // RFC 7541 §6.2.2
    const field = (name: string, value: string) => [0x00, ...literal(name, value)];
    const payload = Buffer.from([
      ...[0x82, 0x86, 0x04, ...literal("/rest/tasks"), 0x41, ...literal("localhost")],
      ...field("a2a-version", "1.0"),
      ...field("authorization", "Bearer one"),
      ...field("authorization", "Bearer two"),
    ]);
    await connection.write(formatFrame({ type: frameTypes.headers, flags: 0x5, streamId: 1, payload }));
    expect(await connection.until("more than one")).toContain("more than one Authorization field");
  });
});

describe("a caller whose credentials are for one tenant", () => {
  const carol = { "x-key": "carols-key", "a2a-version": "1.0", "content-type": "application/json" };
  const post = (path: string, tenant?: string) =>
    harness.fetch(path, {
      method: "POST",
      headers: carol,
      body: JSON.stringify({ message: message(), tenant }),
    });

  it("finds nothing in another by path, body or query, and is its own where none is named", async () => {
    const answers = {
      none: await post("/rest/message:send"),
      own: await post("/rest/acme/message:send"),
      "own in the body": await post("/rest/message:send", "acme"),
      path: await post("/rest/globex/message:send"),
      body: await post("/rest/message:send", "globex"),
      "own path, other body": await post("/rest/acme/message:send", "globex"),
      "other path, own body": await post("/rest/globex/message:send", "acme"),
      query: await harness.fetch("/rest/tasks?tenant=globex", { headers: carol }),
      "own path, other query": await harness.fetch("/rest/acme/tasks?tenant=globex", { headers: carol }),
      "JSON-RPC": await rpc("ListTasks", { "x-key": "carols-key" }, { tenant: "globex" }),
    };
    const outcomes = await Promise.all(
      Object.entries(answers).map(async ([how, response]) => {
        const { error } = await response.json();
        const details = error?.details ?? error?.data ?? [];
        return [how, details.find((each: object) => "reason" in each)?.reason ?? "ok"];
      }),
    );
    expect(Object.fromEntries(outcomes)).toEqual({
      none: "ok",
      own: "ok",
      "own in the body": "ok",
      path: "TASK_NOT_FOUND",
      body: "TASK_NOT_FOUND",
      "own path, other body": "INVALID_PARAMS",
      "other path, own body": "INVALID_PARAMS",
      query: "TASK_NOT_FOUND",
      "own path, other query": "INVALID_PARAMS",
      "JSON-RPC": "TASK_NOT_FOUND",
    });
  });
});

describe("a challenge", () => {
  it("has no line of its own, also when a realm has line breaks", () => {
    const access = new Access({ gates: { user: basic({ users: {}, realm: 'a"\\\r\nSet-Cookie: b=c' }) } });
    const none = { header: new Headers(), url: "", countFields: () => 0, certificate: undefined };
    expect(() => access.authenticator.authenticate(none)).toThrow(
      expect.objectContaining({
        metadata: new Headers({
          "www-authenticate": 'Basic realm="a\\"\\\\??Set-Cookie: b=c", charset="UTF-8"',
        }),
      }),
    );
  });
});

describe("a caller who lacks a scope", () => {
  it("is told which, on both JSON wires", async () => {
    const scope = "a2a:tasks:create";
    const wanted = `Bearer error="insufficient_scope", scope="${scope}"`;
    const one = await rpc("SendMessage", bearer(noScope));
    expect([one.status, one.headers.get("www-authenticate")]).toEqual([403, wanted]);
    expect((await one.json()).error).toMatchObject({
      code: -32056,
      data: [info("PERMISSION_DENIED", { scope })],
    });
    const other = await rest(bearer(noScope));
    expect([other.status, other.headers.get("www-authenticate")]).toEqual([403, wanted]);
    expect((await other.json()).error).toMatchObject({ status: "PERMISSION_DENIED" });
  });

  it("is told which a skill wants besides", async () => {
    const token = await issuer.token("alice");
    const metadata = { "urn:a2a-connect:ext:lifecycle:v1": { skill: "book" } };
    const refused = await rpc("SendMessage", bearer(token), { message: message("hi", metadata) });
    expect((await refused.json()).error.data).toEqual([
      info("PERMISSION_DENIED", { scope: "booking:write" }),
    ]);
    const both = await issuer.token("alice", { claims: { scope: "a2a:tasks:create booking:write" } });
    const taken = await rpc("SendMessage", bearer(both), { message: message("hi", metadata) });
    expect(taken.status).toBe(200);
  });
});

describe("an agent", () => {
  const callerOf = async (response: Response) =>
    JSON.parse((await response.json()).result.message.parts[0].text);

  it("knows who calls, with the claims that were asked for", async () => {
    const token = await issuer.token("alice", {
      claims: { email: "a@example.org", secret: "x", scope: null, scp: ["a2a:tasks:create"] },
    });
    expect(await callerOf(await rpc("SendMessage", bearer(token)))).toEqual({
      principal: "https://id.example|alice",
      tenant: "",
      scopes: ["a2a:tasks:create"],
      claims: { email: "a@example.org" },
    });
  });

  it.each([
    ["header", { "x-key": "carols-key" }, ""],
    ["query", {}, "?key=carols-key"],
    ["cookie", { cookie: "a=b; key=carols-key" }, ""],
    ["cookie among others", { cookie: ";;monkey=1;keys=2; key2 =3;b=key=4;  key = carols%2Dkey ;c" }, ""],
  ] as const)("knows who calls by a key in the %s", async (_place, headers, query) => {
    const caller = await callerOf(await rpc("SendMessage", headers, { message: message() }, query));
    expect(caller).toEqual({
      principal: "key:carol",
      tenant: "acme",
      scopes: ["a2a:tasks:create", "a2a:tasks:read"],
      claims: {},
    });
  });
});

describe("a task", () => {
  it("knows its caller after a restart, without the token", async () => {
    const directory = await mkdtemp(join(tmpdir(), "a2a-auth-"));
    const file = join(directory, "tasks.sqlite");
    const asked = Promise.withResolvers<void>();
    let runs = 0;
    const durable = defineAgent({
      card: { name: "Lasting" },
      durable: true,
      async *execute(task) {
        if (++runs === 1) {
          asked.resolve();
          await new Promise(() => {});
        }
        yield task.artifact({ name: "caller", parts: [text(JSON.stringify(task.caller))] });
      },
    });
    const gates = { token: bearerJwt({ ...issuer, audience, claims: ["email"] }) };
    const options = { file, auth: { gates }, shutdown: false } as const;
    const token = await issuer.token("alice", { claims: { email: "a@example.org" } });
    const first = await serve(durable, options);
    const request = { message: message(), configuration: { returnImmediately: true } };
    const init = (body?: object, header = {}) => ({
      headers: { ...bearer(token), "a2a-version": "1.0", "content-type": "application/json", ...header },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    const { task } = await (await fetch(`${first.url}/rest/message:send`, init(request))).json();
    await asked.promise;
    await first.close({ graceMs: 0 });
    const second = await serve(durable, options);
    const events = await (
      await fetch(`${second.url}/rest/tasks/${task.id}:subscribe`, init(undefined, { "last-event-id": "0" }))
    ).text();
    expect(events).toContain('claims\\":{\\"email\\":\\"a@example.org');
    expect(events).toContain("https://id.example|alice");
    await second.close({ graceMs: 0 });
    const bytes = await readFile(file);
    expect([
      bytes.includes("a@example.org"),
      bytes.includes(token),
      bytes.includes(token.split(".")[2] ?? ""),
    ]).toEqual([true, false, false]);
    await rm(directory, { recursive: true });
  });
});
