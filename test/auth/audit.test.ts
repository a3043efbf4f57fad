// What the audit says of calls and changes of state, and that no secret gets into it, into logs, errors or the database.

import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { apiKey, basic, bearerJwt, hashApiKey, hashPassword } from "@a2a-connect/auth";
import { auditCalls, type CallRecord, createCredentials } from "@a2a-connect/auth/client";
import { text } from "@a2a-connect/core";
import { serve } from "@a2a-connect/node";
import { connectAgent } from "@a2a-connect/node/client";
import { Role } from "@a2a-connect/proto";
import { type AuditRecord, defineAgent, type LogRecord } from "@a2a-connect/server";
import { startAgentHarness } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { ways } from "./every-call.ts";
import { audience, createIssuer } from "./issuer.ts";

const agent = defineAgent({
  card: { name: "Audited", skills: [{ id: "talk", name: "Talk", description: "Talks." }] },
  route: () => "talk",
  async *execute(turn) {
    if (turn.text.includes("fail")) throw new Error("an executor's own words");
    if (turn.text.includes("hold")) yield turn.inputRequired("And then?");
    else yield turn.reject("No.", { reason: "unsupported-skill" });
  },
});
const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

describe("the audit", () => {
  it("has a line for each call over each wire and for each change of state, joined by task and trace", async () => {
    const issuer = await createIssuer();
    const records: AuditRecord[] = [];
    await using harness = await startAgentHarness({
      agent,
      audit: (record) => records.push(record),
      protocolVersions: ["1.0", "1.1", "0.3"],
      push: { fetch: async () => new Response() },
      extendedCard: { find: () => agent.card },
      auth: { gates: { token: bearerJwt({ ...issuer, audience }) } },
    });
    const headers = { authorization: `Bearer ${await issuer.token("alice")}`, traceparent };
    for (const way of ways) {
      records.length = 0;
      const { result } = await way.call({ harness, headers, taskId: "no-such-task" });
      await expect.poll(() => records.length, { interval: 1 }).toBeGreaterThan(0);
      expect([way.title, records.length, records[0]]).toMatchObject([
        way.title,
        1,
        {
          kind: "call",
          principal: "https://id.example|alice",
          wire: way.wire,
          outcome: result,
          traceId,
          peer: "127.0.0.1",
        },
      ]);
    }
    records.length = 0;
    const client = harness.client("grpc", { headers });
    const { payload } = await client.sendMessage({
      message: { messageId: "m", role: Role.USER, parts: [text("no")] },
    });
    const task = payload.case === "task" ? payload.value : undefined;
    const about = {
      taskId: task?.id,
      contextId: task?.contextId,
      skill: "talk",
      principal: "https://id.example|alice",
      tenant: "",
    };
    await expect.poll(() => records.length).toBe(3);
    expect(records).toMatchObject([
      { kind: "state", after: "submitted", ...about },
      { kind: "state", before: "submitted", after: "rejected", reason: "unsupported-skill", ...about },
      {
        kind: "call",
        operation: "SendMessage",
        wire: "grpc",
        protocolVersion: "1.0",
        outcome: "ok",
        traceId,
        ...about,
      },
    ]);
    records.length = 0;
    await harness
      .client("jsonrpc")
      .listTasks({})
      .catch(() => undefined);
    expect(records).toMatchObject([
      { principal: "anonymous", outcome: "UNAUTHENTICATED", operation: "ListTasks" },
    ]);
    expect(records[0]?.traceId).toMatch(/^[\da-f]{32}$/);
  });
});

it("the client has a line for each call and change of state, which join the agent's by task and trace", async () => {
  const issuer = await createIssuer();
  const heard: AuditRecord[] = [];
  const called: CallRecord[] = [];
  const token = await issuer.token("alice");
  await using harness = await startAgentHarness({
    agent,
    audit: (record) => heard.push(record),
    auth: { gates: { token: bearerJwt({ ...issuer, audience }) } },
  });
  for (const pinBinding of ["JSONRPC", "HTTP+JSON", "GRPC", "urn:a2a-connect:binding:connect:v1"]) {
    heard.length = 0;
    called.length = 0;
    await using client = await connectAgent(harness.url, {
      pinBinding,
      auth: createCredentials({ bearer: token }),
      interceptors: [auditCalls((record) => called.push(record))],
    });
    for await (const _ of client.stream("planted-content hold", { until: "settled" }));
    await client.getTask("planted-no-task").catch(() => undefined);
    await expect.poll(() => heard.filter(({ kind }) => kind === "call").length).toBe(2);
    await expect.poll(() => called.filter(({ kind }) => kind === "call").length).toBe(2);
    const outcomes = called.flatMap(({ operation, outcome }) =>
      operation ? [`${operation} ${outcome}`] : [],
    );
    expect([pinBinding, outcomes.sort()]).toEqual([
      pinBinding,
      ["GetTask TASK_NOT_FOUND", "SendStreamingMessage left"],
    ]);
    const { taskId = "" } = called.find(({ operation }) => operation === "SendStreamingMessage") ?? {};
    expect(called.filter(({ kind }) => kind === "state").map(({ taskId: id, after }) => [id, after])).toEqual(
      [
        [taskId, "submitted"],
        [taskId, "input-required"],
      ],
    );
    const traces = (records: readonly { kind: string; traceId?: string }[]) =>
      records.filter(({ kind }) => kind === "call").map(({ traceId: id }) => id);
    expect(new Set(traces(heard))).toEqual(new Set(traces(called)));
    expect(heard.filter(({ taskId: id }) => id === taskId).length).toBeGreaterThan(0);
    expect(JSON.stringify(called)).not.toMatch(/planted-content|eyJ/);
    expect(called.every(({ peer }) => peer === new URL(harness.url).origin)).toBe(true);
  }
});

it("no secret is in audit, logs, answers, webhooks or the database", async () => {
  const directory = await mkdtemp(join(tmpdir(), "a2a-audit-"));
  const issuer = await createIssuer();
  const token = await issuer.token("alice");
  const secrets = { key: "planted-api-key", password: "planted-password", token, content: "planted-content" };
  const written: (AuditRecord | LogRecord)[] = [];
  const posted: string[] = [];
  const hook = createServer(async (request, response) => {
    posted.push(JSON.stringify(request.headers) + (await readText(request)));
    response.end();
  }).listen(0, "127.0.0.1");
  await once(hook, "listening");
  const hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
  const served = await serve(agent, {
    push: { allow: ["127.0.0.1"] },
    file: join(directory, "tasks.sqlite"),
    shutdown: false,
    audit: (record) => written.push(record),
    log: (record) => written.push(record),
    auth: {
      gates: {
        token: bearerJwt({ ...issuer, audience, claims: ["email"] }),
        key: apiKey({ header: "x-key", keys: { bob: { hash: await hashApiKey(secrets.key) } } }),
        query: apiKey({ query: "key", keys: { bob: { hash: await hashApiKey(secrets.key) } } }),
        user: basic({ users: { carol: { hash: await hashPassword(secrets.password) } } }),
      },
    },
  });
  const answers: string[] = [];
  const call = async (words: string, headers: Record<string, string>, query = "") => {
    const response = await fetch(`${served.url}/rest/message:send${query}`, {
      method: "POST",
      headers: { "a2a-version": "1.0", "content-type": "application/json", ...headers },
      body: JSON.stringify({
        message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: words }] },
        configuration: { taskPushNotificationConfig: { url: hookUrl } },
      }),
    });
    answers.push(JSON.stringify([...response.headers]), response.ok ? "" : await response.text());
  };
  const pair = `Basic ${btoa(`carol:${secrets.password}`)}`;
  const [head = "", payload = ""] = token.split(".");
  for (const [headers, query] of [
    [{ authorization: `Bearer ${token}` }, ""],
    [{ authorization: `Bearer ${head}.${payload}.AAAA` }, ""],
    [{ authorization: pair }, ""],
    [{ authorization: pair.slice(0, -4) }, ""],
    [{ "x-key": secrets.key }, ""],
    [{ "x-key": `${secrets.key}!` }, ""],
    [{}, `?key=${secrets.key}`],
    [{}, `?key=${secrets.key}&key=${secrets.key}`],
  ] as const) {
    await call(`${secrets.content} hold`, headers, query);
    await call(`${secrets.content} fail`, headers, query);
  }
  await expect.poll(() => posted.length).toBeGreaterThan(4);
  await served.close({ graceMs: 0 });
  hook.close();
  const files = await readdir(directory);
  const database = Buffer.concat(
    await Promise.all(files.map((file) => readFile(join(directory, file)))),
  ).toString("latin1");
  await rm(directory, { recursive: true });
  const said = JSON.stringify(written, (_, value) =>
    value instanceof Error ? `${value.stack} ${value.cause}` : value,
  );
  expect([written.length > 20, database.includes(secrets.content)]).toEqual([true, true]);
  const basicText = btoa(`carol:${secrets.password}`);
  for (const secret of [
    secrets.key,
    secrets.password,
    payload,
    token.split(".")[2] ?? "",
    basicText.slice(0, -4),
  ]) {
    const places = [said, answers.join(), database, posted.join()];
    expect(places.map((place) => place.includes(secret))).toEqual([false, false, false, false]);
  }
  expect(said).not.toContain(secrets.content);
});
