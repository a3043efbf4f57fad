// The recipes of docs/authentication.md do what the page says.

import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { get } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { text as partOf } from "@a2a-connect/core";
import { connectAgent, type ServedAgent } from "@a2a-connect/node";
import { createCertificateAuthority, createSelfSignedCertificate } from "@a2a-connect/testing";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { readCodeBlocks } from "../readme/code-blocks.ts";
import { createIssuer } from "./issuer.ts";

const here = dirname(fileURLToPath(import.meta.url));
const directory = mkdtempSync(join(here, ".tmp-")); // where the packages can be imported from
const blocks = readCodeBlocks(join(here, "..", "..", "docs", "authentication.md"));
const before = { ...process.env };
const started: ServedAgent[] = [];
afterAll(async () => {
  await Promise.all(started.map((served) => served.close({ graceMs: 0 })));
  rmSync(directory, { recursive: true });
  process.env = before;
});

/** Runs a recipe on a free port, with files of its own; nothing else of it is changed. */
async function run<Exports>(
  name: string,
  environment: Record<string, string>,
): Promise<Exports & { served: ServedAgent }> {
  const { code } = blocks.find((block) => block.name === name) ?? expect.unreachable(`the page has ${name}`);
  const file = join(directory, `${name}.ts`);
  const here = code
    .replace("port: 4000", `port: 0, file: ":memory:", shutdown: false`)
    .replaceAll(/readFileSync\("/g, `readFileSync("${directory}/`);
  writeFileSync(file, here);
  Object.assign(process.env, environment);
  const exports = await vi.importActual<Exports & { served: ServedAgent }>(file);
  if (exports.served !== undefined) started.push(exports.served);
  return exports;
}

const send = async (url: string, headers: Record<string, string>, taskId = "") => {
  const response = await fetch(`${url}/rest/message:send`, {
    method: "POST",
    headers: { "a2a-version": "1.0", "content-type": "application/json", ...headers },
    body: JSON.stringify({
      message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "hi" }], taskId },
    }),
  });
  const json = await response.json();
  return json.message?.parts[0].text ?? json.task?.status.state ?? response.status;
};

let provider: string;
let further: Record<string, unknown> = {};
const ids = createServer();
beforeAll(async () => {
  ids.listen(0, "127.0.0.1");
  await once(ids, "listening");
  provider = `http://127.0.0.1:${(ids.address() as AddressInfo).port}`;
  const issuer = await createIssuer(provider);
  ids.on("request", async (request, response) => {
    const claims = { aud: "http://localhost:4000", email: "a@example.org", ...further };
    const documents: Record<string, unknown> = {
      "/.well-known/openid-configuration": {
        issuer: provider,
        jwks_uri: `${provider}/keys`,
        token_endpoint: `${provider}/token`,
      },
      "/keys": issuer.keys,
      "/token": { access_token: await issuer.token("service", { claims }), token_type: "Bearer" },
    };
    response.setHeader("content-type", "application/json").end(JSON.stringify(documents[request.url ?? ""]));
  });
});
afterAll(() => ids.close());

it("tokens of a provider, and a machine that gets one", async () => {
  const { served } = await run("provider", { ISSUER: provider });
  expect(await send(served.url, {})).toBe(401);
  const client = { ISSUER: provider, AGENT: served.url, CLIENT_ID: "c", CLIENT_SECRET: "s" };
  expect((await run<{ greeting: string }>("machine", client)).greeting).toBe("Hello, a@example.org!");
});

it("API keys", async () => {
  const { served } = await run("keys", { ALICES_KEY: "alices-key", READERS_KEY: "readers-key" });
  const answers = ["alices-key", "readers-key", "guess"].map((key) => send(served.url, { "x-api-key": key }));
  expect(await Promise.all(answers)).toEqual(["Hello, key:alice!", 403, 401]);
});

it("client certificates", async () => {
  const [authority, own] = [createCertificateAuthority(), createSelfSignedCertificate()];
  writeFileSync(join(directory, "server.pem"), own.cert);
  writeFileSync(join(directory, "server-key.pem"), own.key);
  writeFileSync(join(directory, "clients-ca.pem"), authority.cert);
  const { served } = await run("certificates", {});
  const list = async (pair: object) => {
    const request = get(`${served.url}/rest/tasks`, {
      ca: own.cert,
      ...pair,
      agent: false,
      headers: { "a2a-version": "1.0" },
    });
    const [response] = await once(request, "response");
    await text(response);
    return response.statusCode;
  };
  expect([await list(authority.issue({ subject: "worker" })), await list({})]).toEqual([200, 401]);
});

it("a user behind an agent", async () => {
  const { served, handedOver } = await run<{ handedOver: { taskId: string; token: string }[] }>("user", {
    USERS_KEY: "users-key",
  });
  const asUser = { "x-api-key": "users-key" };
  expect([await send(served.url, asUser), await send(served.url, asUser)]).toEqual(
    Array(2).fill("TASK_STATE_INPUT_REQUIRED"),
  );
  const [mine, other] = handedOver;
  const asAgent = { authorization: `Bearer ${mine?.token}` };
  expect([
    await send(served.url, asAgent, mine?.taskId),
    await send(served.url, asAgent, other?.taskId),
    await send(served.url, asAgent),
  ]).toEqual(["TASK_STATE_INPUT_REQUIRED", 404, 403]);
});

it("a user signs in while a task waits", async () => {
  const { served, callback } = await run<{ callback: Server }>("consent", {
    LOGIN: "https://login.example/",
  });
  const listeners = () => process.getActiveResourcesInfo().filter((each) => each === "TCPServerWrap").length;
  const before = listeners();
  callback.listen(0, "127.0.0.1");
  await once(callback, "listening");
  onTestFinished(() => void callback.close());
  expect(listeners(), "the callback keeps no process alive").toBe(before);
  const agent = await connectAgent(served.url);
  onTestFinished(() => agent.close());
  const { port } = callback.address() as AddressInfo;
  const visit = async (state: string, path = "/") =>
    (await fetch(`http://127.0.0.1:${port}${path}?state=${state}`)).status;
  const visits: number[] = [];
  const result = await agent.run("read my mail", {
    async onAuthRequired({ auth }) {
      const state = new URL(auth?.url ?? "").searchParams.get("state") ?? "";
      visits.push(await visit("guessed"), await visit(state, "//"), await visit(state), await visit(state));
      return { resolved: true };
    },
  });
  expect([visits, result.task?.status?.message?.parts]).toMatchObject([
    [400, 400, 200, 400],
    [partOf("Read with mail.read.")],
  ]);

  let [canceledId, canceledState] = ["", ""];
  const canceled = agent.run("read my mail", {
    onAuthRequired({ auth, taskId }) {
      [canceledId, canceledState] = [taskId, new URL(auth?.url ?? "").searchParams.get("state") ?? ""];
      return undefined;
    },
  });
  await expect(canceled).rejects.toThrow();
  await agent.cancelTask(canceledId);
  expect(
    [await visit(canceledState), await visit(canceledState)],
    "a sign-in that the task does not take; it may ask for the same one again",
  ).toEqual([409, 409]);

  const timers = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => timers.mockRestore());
  const late = agent.run("read my mail", {
    async onAuthRequired({ auth }) {
      const state = new URL(auth?.url ?? "").searchParams.get("state") ?? "";
      for (const [end, ms] of timers.mock.calls) {
        if (ms === 600_000 && String(end).includes("waiting")) end();
      }
      visits.push(await visit(state));
      return undefined;
    },
  });
  await expect(late).rejects.toThrow();
  expect(visits.at(-1), "a sign-in after ten minutes, when the task waits no longer").toBe(400);
});

it("operators see all tasks of an organisation", async () => {
  const { served } = await run("operators", { ISSUER: provider });
  const as = async (org: string | undefined, role: string) => {
    further = { org, role };
    const { access_token } = await (await fetch(`${provider}/token`)).json();
    return { authorization: `Bearer ${access_token}` };
  };
  const list = async (headers: Record<string, string>) => {
    const response = await fetch(`${served.url}/rest/tasks`, {
      headers: { "a2a-version": "1.0", ...headers },
    });
    return response.ok ? (await response.json()).totalSize : response.status;
  };
  const [clerk, operator, stranger] = [
    await as("acme", "clerk"),
    await as("acme", "operator"),
    await as("other", "operator"),
  ];
  expect(await send(served.url, clerk)).toBe("TASK_STATE_INPUT_REQUIRED");
  expect([await list(clerk), await list(operator), await list(stranger)]).toEqual([403, 1, 0]);
  expect([await send(served.url, operator), await list(await as(undefined, "operator"))]).toEqual([403, 401]);
});
