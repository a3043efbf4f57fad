// Files that an agent names by URL: where redirects may lead, and where not.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { isIPv4 } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError, type ConnectOptions } from "@a2a-connect/client";
import { connectAgent, type NodeConnectOptions } from "@a2a-connect/node/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startHttpServer } from "../../packages/client/test-support/http-server.ts";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { respondResult, startBrokenServer } from "./broken-server.ts";
import { taskId, taskJson } from "./broken-task.ts";

/** An address of this machine that others use; none where it has no network. */
const neighbour = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, address }) => !internal && isIPv4(address))?.address;

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "a2a-files-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("a file at a URL that redirects", () => {
  it("is fetched over a few redirects", async () => {
    await using files = await startFiles();
    const [path] = await save(`${files.url}/hops/3`, {});
    expect(readFileSync(path ?? "", "utf8")).toBe("content");
  });

  it("is not fetched over more", async () => {
    await using files = await startFiles();
    await rejectedWith(save(`${files.url}/hops/4`, {}), AgentError);
    expect(files.asked()).not.toContain("/hops/0");
  });

  it("is fetched without the headers that the agent's calls carry", async () => {
    await using files = await startFiles();
    await save(`${files.url}/hops/1`, { headers: { authorization: "Bearer secret" } });
    expect(files.credentials()).toEqual([undefined, undefined]);
  });

  it("is refused where an agent on this machine, not trusted, redirects to an address that is not public", {
    skip: neighbour === undefined,
    meta: { skipReason: "no network but this machine's own" },
  }, async () => {
    await using files = await startFiles();
    for (const path of ["/elsewhere", "/hops-elsewhere"]) {
      const thrown = await failureOf(save(files.url + path, { untrusted: true }));
      expect(thrown, path).toBeInstanceOf(AgentError);
    }
    expect(files.asked()).not.toContain("/secret");
    // It is not that redirects are refused: this machine's own are followed, and so is what is allowed.
    await save(`${files.url}/hops/2`, { untrusted: true });
    await save(`${files.url}/elsewhere`, { untrusted: true, allow: [neighbour ?? ""] });
    expect(files.asked()).toContain("/secret");
  });
});

/** Saves the file at a URL that an agent on this machine names. */
async function save(url: string, options: NodeConnectOptions & ConnectOptions): Promise<string[]> {
  const artifacts = [{ artifactId: "a", parts: [{ url, filename: "file.txt" }] }];
  await using server = await startBrokenServer({
    answer: (call) => respondResult(call, taskJson("TASK_STATE_COMPLETED", { artifacts })),
  });
  await using agent = await connectAgent(server.url, options);
  const [artifact] = agent.readArtifacts(await agent.getTask(taskId));
  return (await artifact?.save(directory)) ?? [];
}

async function startFiles() {
  const server = await startHttpServer(
    ({ url = "" }, response) => {
      const location = redirects(url);
      if (location === undefined) response.end("content");
      else response.writeHead(302, { location }).end();
    },
    { host: "0.0.0.0" },
  );
  const { port, requests } = server;
  const redirects = (path: string): string | undefined => {
    const hops = Number(/^\/hops\/(\d)$/.exec(path)?.[1] ?? 0);
    if (hops > 0) return `/hops/${hops - 1}`;
    if (path === "/hops-elsewhere") return `http://localhost:${port}/elsewhere`;
    return path === "/elsewhere" ? `http://${neighbour}:${port}/secret` : undefined;
  };
  return {
    ...server,
    asked: () => requests.map(({ url }) => url),
    credentials: () => requests.map(({ headers }) => headers.authorization),
  };
}
