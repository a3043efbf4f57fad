// Files that an agent names by URL are somebody else's: whoever holds them is shown nothing of the caller's.

import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UnreachableError } from "@a2a-connect/client";
import { connectAgent, type NodeConnectOptions } from "@a2a-connect/node/client";
import { expect, it, onTestFinished } from "vitest";
import { type HttpServer, startHttpServer } from "../../packages/client/test-support/http-server.ts";
import { failureOf } from "../../packages/client/test-support/outcomes.ts";
import { StoppedClock } from "../../packages/client/test-support/stopped-clock.ts";
import { respondResult, startBrokenServer } from "./broken-server.ts";
import { sendEvents, taskJson } from "./broken-task.ts";

const secrets = { authorization: "Bearer secret", "x-api-key": "secret" };

it.each<[string, NodeConnectOptions]>([
  ["a fetch that adds credentials", { fetch: withSecrets }],
  ["headers for every request", { headers: secrets }],
  ["the same where the agent is not trusted", { headers: secrets, untrusted: true }],
])("a file's host is shown nothing of %s", async (_, options) => {
  await using host = await startFileHost("content");
  await using agent = await startAgent(`${host.url}/f`);
  await using client = await connectAgent(agent.url, options);
  const [artifact] = (await client.run("Go.")).artifacts;
  expect(await artifact?.save(temporaryDirectory())).toHaveLength(1);
  expect(host.requests).toHaveLength(1);
  expect(JSON.stringify(host.requests.map(({ headers }) => headers))).not.toContain("secret");
});

it.each([false, true])("a host that never answers is given up, untrusted: %s", async (untrusted) => {
  const clock = new StoppedClock();
  await using host = await startFileHost(() => clock.pass(60_000));
  await using agent = await startAgent(`${host.url}/f`);
  await using client = await connectAgent(agent.url, { untrusted, clock });
  const [artifact] = (await client.run("Go.")).artifacts;
  const failure = await failureOf(artifact?.save(temporaryDirectory()) ?? Promise.resolve());
  expect(failure).toBeInstanceOf(UnreachableError);
  expect(String(failure)).toContain("silent for 60000 ms");
});

it("a client that is closed fetches nothing any more", async () => {
  await using host = await startFileHost("content");
  await using agent = await startAgent(`${host.url}/f`);
  const client = await connectAgent(agent.url);
  const [artifact] = (await client.run("Go.")).artifacts;
  await client.close();
  expect(String(await failureOf(artifact?.save(temporaryDirectory()) ?? Promise.resolve()))).toContain(
    "closed",
  );
  expect(host.requests).toHaveLength(0);
});

function withSecrets(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(secrets)) headers.set(name, value);
  return fetch(input, { ...init, headers });
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "a2a-files-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

function startAgent(url: string) {
  const task = taskJson("TASK_STATE_COMPLETED", { artifacts: [{ artifactId: "a", parts: [{ url }] }] });
  return startBrokenServer({
    answer: (call) =>
      call.method === "GetTask" ? respondResult(call, task) : sendEvents(call, 1, [{ task }]),
  });
}

/** @param answer the content; or what happens when it is asked, while it never answers */
function startFileHost(answer: string | (() => void)): Promise<HttpServer> {
  const respond = (_: unknown, response: ServerResponse): void => {
    if (typeof answer === "string") response.end(answer);
    else answer();
  };
  return startHttpServer(respond, { host: "localhost" });
}
