import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type ConformanceOptions, createReport, type Result, runConformance } from "@a2a-connect/conformance";
import { connectBinding } from "@a2a-connect/core/internal";
import { serve } from "@a2a-connect/node";
import { createReferenceAgent, profileOptions } from "@a2a-connect/reference-agent";
import { createMemoryTaskStore, type TurnAgent } from "@a2a-connect/server";
import { type AgentHarness, startAgentHarness } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cardPath, startAlteringProxy } from "./altering-proxy.ts";
import { knownToken, planServers } from "./servers.ts";

let reference: AgentHarness;

beforeAll(async () => {
  reference = await startAgentHarness(planServers().full.options);
});
afterAll(() => reference[Symbol.asyncDispose]());

/** On a busy machine a run may take minutes. */
const runTimeoutMs = 600_000;

async function examine(url: string, options: ConformanceOptions = {}): Promise<Result[]> {
  using run = await runConformance(url, { agent: "reference", runTimeoutMs, ...options });
  const results = await Array.fromAsync(run.results());
  expect(results).toHaveLength(run.total);
  return results;
}

function only(results: readonly Result[], outcome: Result["outcome"]): Result[] {
  return results.filter((result) => result.outcome === outcome);
}

/** A server with a card that declares HTTP+JSON, or these bindings, and this for everything else. */
async function startOdd(
  listener: RequestListener,
  bindings: readonly string[] = ["HTTP+JSON"],
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    if (request.url === "/.well-known/agent-card.json" && request.method === "GET") {
      const supportedInterfaces = bindings.map((protocolBinding) => ({
        url: `${url}/rest`,
        protocolBinding,
        protocolVersion: "1.0",
      }));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ name: "Odd", capabilities: { streaming: true }, supportedInterfaces }));
    } else listener(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://localhost:${(server.address() as AddressInfo).port}`; // it listens on a port
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a conformance run", () => {
  // Scenario by scenario the others are in memory.test.ts and sqlite.test.ts.
  it("finds nothing wrong with the reference agent over five wires", async () => {
    const most = ["B", "C", "D", "E", "F", "G", "H", "I", "J", "K"];
    const results = await examine(reference.url, process.env["A2A_LONG"] === undefined ? { only: most } : {});
    expect(only(results, "failed")).toEqual([]);
    expect(only(results, "not-run")).toEqual([]);
    expect(only(results, "passed").length).toBeGreaterThan(700);
    expect(new Set(only(results, "passed").map(({ place }) => place)).size).toBe(6);
  });

  it("gives a reason for all that it leaves out", async () => {
    // What any agent has to do over the other wires was tried above, too.
    const results = await examine(reference.url, { agent: "any", places: ["card", "http-json"] });
    expect(only(results, "failed")).toEqual([]);
    const leftOut = only(results, "not-applicable");
    expect(leftOut.length).toBeGreaterThan(150);
    for (const { sentence } of leftOut) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  it("names the extensions that a card requires, over every wire", async () => {
    await using server = await startAgentHarness(planServers()["required-extension"].options);
    // Calls by each client, and by hand on each of the three wires that have calls of their own.
    const results = await examine(server.url, { agent: "any", only: ["B", "G", "H", "I", "J", "K"] });
    expect(only(results, "failed")).toEqual([]);
    expect(only(results, "passed").length).toBeGreaterThan(150);
    const about = only(results, "passed").filter(({ scenario }) => scenario.ids.includes("G-4"));
    expect(new Set(about.map(({ place }) => place)).size).toBe(5);
  });

  it("holds a server to what its card does not declare, too", async () => {
    await using server = await startAgentHarness(planServers().bare.options);
    using run = await runConformance(server.url, { agent: "any", runTimeoutMs });
    const results = await Array.fromAsync(run.results());
    expect(only(results, "failed")).toEqual([]);
    const { rows } = createReport(run, results);
    const outcomes = (id: string) => rows.find(({ requirement }) => requirement.id === id)?.outcomes;
    // Webhooks in sends, streams, webhooks, an extended card, media types: what is not declared is refused over every wire.
    for (const id of ["A-15", "A-20", "A-50", "A-60", "A-9"]) {
      expect([...(outcomes(id)?.values() ?? [])], id).toEqual(Array(5).fill("passed"));
    }
    // What needs one of them does not apply, for a reason that names it.
    const why = (id: string) =>
      new Set(results.filter(({ scenario }) => scenario.ids.includes(id)).map(({ sentence }) => sentence));
    for (const [id, reason] of [
      ["A-25", "The card does not declare streaming."],
      ["A-55", "The card does not declare push notifications."],
      ["A-62", "The card does not declare an extended card."],
    ] as const) {
      expect([...(outcomes(id)?.values() ?? [])], id).toEqual(Array(5).fill("not-applicable"));
      expect(why(id)).toContain(reason);
    }
  });

  it("tells the one cause of a server that breaks every answer, and leaves no failed call unhandled", async () => {
    // Two ways to make calls: by our own transports, and by those of Connect.
    await using odd = await startOdd(
      (_, response) => response.writeHead(503).end("down"),
      ["HTTP+JSON", connectBinding],
    );
    const listeners = process.listenerCount("unhandledRejection");
    using run = await runConformance(odd.url, { agent: "reference", runTimeoutMs, only: ["A", "K", "R"] });
    const results: Result[] = [];
    for await (const result of run.results()) {
      expect(process.listenerCount("unhandledRejection")).toBe(listeners);
      results.push(result);
    }
    const failed = only(results, "failed").length;
    expect(failed).toBeGreaterThan(300);
    const [first, ...others] = createReport(run, results).causes;
    expect(first?.results.length).toBeGreaterThan(failed / 3);
    expect(others.length).toBeLessThan(20);
  });

  it("tries calls of strangers alone without credentials, and all calls with them", async () => {
    const { options } = planServers().credentials;
    await using server = await startAgentHarness(options);
    const all: ConformanceOptions = { agent: "any", only: ["D", "E", "O"] };
    const without = await examine(server.url, all);
    const withThem = await examine(server.url, {
      ...all,
      headers: { authorization: `Bearer ${knownToken}` },
    });
    expect(only(without, "failed").concat(only(withThem, "failed"))).toEqual([]);
    const tried = only(without, "passed").filter(({ place }) => place !== "card");
    expect(new Set(tried.flatMap(({ scenario }) => scenario.ids))).toEqual(new Set(["O-2"]));
    expect(only(withThem, "passed").length).toBeGreaterThan(tried.length + 100);
  });

  it("tries only what is asked for, where it is asked for", async () => {
    const results = await examine(reference.url, { only: ["A-30", "D"], places: ["grpc", "connect"] });
    expect(results.length).toBeGreaterThan(4);
    for (const { scenario, place } of results) {
      expect(scenario.ids.join(" ")).toMatch(/A-30|D-/);
      expect(["grpc", "connect"]).toContain(place);
    }
  });

  it("refuses a word that is no requirement, and a wire that the card does not declare", async () => {
    await expect(examine(reference.url, { only: ["A-999"] })).rejects.toThrow("no requirement A-999");
    await using proxy = await startAlteringProxy(reference.url, {});
    await expect(examine(proxy.url, { places: ["grpc"] })).rejects.toThrow("declares no grpc");
  });

  it("says what is wrong, what was there instead, and how to ask the same by hand", async () => {
    await using proxy = await startAlteringProxy(reference.url, {
      alter(answer) {
        if (answer.status === 404) answer.status = 400;
      },
    });
    const results = await examine(proxy.url, { only: ["E-7"], places: ["http-json"] });
    const failed = only(results, "failed");
    const about = failed.find(
      ({ scenario }) => scenario.title === "answers an unknown task with HTTP status 404",
    );
    expect(about?.sentence).toBe("found 400, wanted 404");
    const { call, answer, command } = about?.exchanges.at(-1) ?? {};
    expect(call).toMatch(/^GET http:.*\/tasks\//);
    expect(answer).toContain("HTTP 400");
    expect(answer).toContain("TASK_NOT_FOUND");
    expect(command).toMatch(
      /^curl -i .*-H 'a2a-version: 1\.0'.* 'http:\/\/localhost:\d+\/rest\/tasks\/[\w-]+'$/,
    );
    expect(only(results, "passed").length).toBeGreaterThan(5);
  });

  it("reads answers of servers that send without end only up to a limit", async () => {
    await using odd = await startOdd((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const event = `data: {"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}},"x":"${"x".repeat(60_000)}"}\n\n`;
      const send = () => {
        while (response.writable && response.write(event));
      };
      response.on("drain", send);
      send();
    });
    const results = await examine(odd.url, { only: ["A-22"] });
    const failed = only(results, "failed");
    expect(failed.length).toBeGreaterThan(0);
    expect(only(results, "passed")).toEqual([]);
  });

  it("gives up a scenario in its time, and the run in the run's", async () => {
    await using odd = await startOdd(() => {});
    const late = await examine(odd.url, { only: ["A-30"], scenarioTimeoutMs: 100 });
    expect(only(late, "failed").map(({ sentence }) => sentence)).toContainEqual(
      expect.stringMatching(/^It took longer than 0\.1 s; the last call was POST http:.*\/message:send\.$/),
    );
    const cut = await examine(odd.url, { only: ["A"], scenarioTimeoutMs: 200, runTimeoutMs: 100 });
    expect(only(cut, "not-run").length).toBeGreaterThan(50);
    expect(only(cut, "failed").concat(only(cut, "passed"))).toEqual([]);
  });

  it("sends no message to the agent when it is to be quiet", async () => {
    let messages = 0;
    const agent = createReferenceAgent("full");
    const execute: TurnAgent["execute"] = (turn) => {
      messages += 1;
      return agent.execute?.(turn) ?? [];
    };
    await using harness = await startAgentHarness({
      ...profileOptions("full"),
      agent: { ...agent, execute },
    });
    const results = await examine(harness.url, { agent: "any", quiet: true });
    expect(messages).toBe(0);
    expect(only(results, "failed")).toEqual([]);
    expect(new Set(only(results, "passed").map(({ place }) => place)).size).toBe(6);
    expect(only(results, "passed").length).toBeGreaterThan(150);
  });

  it("examines by a card that it is given, and names the tenants of its interfaces", async () => {
    const agent = { agent: createReferenceAgent("full"), store: createMemoryTaskStore() };
    await using served = await serve({ one: agent, two: { ...agent, store: createMemoryTaskStore() } });
    const { url } = served.agents.one;
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
    const options: ConformanceOptions = { agent: "any", card, only: ["A-30", "J"], quiet: true };
    const results = await examine(url, options);
    expect(only(results, "failed")).toEqual([]);
    expect(new Set(only(results, "passed").map(({ place }) => place)).size).toBe(6);
  });

  it("ends when it is told to", async () => {
    await using odd = await startOdd(() => {});
    const controller = new AbortController();
    using run = await runConformance(odd.url, {
      agent: "reference",
      scenarioTimeoutMs: 200,
      signal: controller.signal,
    });
    const results = Array.fromAsync(run.results());
    controller.abort(new Error("enough"));
    await expect(results).rejects.toThrow("enough");
  });
});

describe("the card of a server that is examined", () => {
  for (const [name, listener, wanted] of [
    ["is not there", (_, response) => response.writeHead(404).end(), "answers with HTTP 404"],
    ["is no JSON", (_, response) => response.end("<html>"), "it is not a JSON object"],
    ["declares no wire", (_, response) => response.end("{}"), "declares no interface of version 1.0"],
    [
      "never ends",
      (_, response) => {
        const send = () => {
          while (response.writable && response.write(" ".repeat(60_000)));
        };
        response.on("drain", send);
        send();
      },
      "it has more than 1024 KiB",
    ],
  ] satisfies readonly (readonly [string, RequestListener, string])[]) {
    it(`stops the run when it ${name}`, async () => {
      await using server = await startOdd(listener);
      await expect(runConformance(`${server.url}/agents/one`)).rejects.toThrow(wanted);
    });
  }
});

describe("the dialect of a server", () => {
  it("is seen by its numbers and media types", async () => {
    using run = await runConformance(reference.url);
    expect(run.dialect).toMatchObject({ spec: "1.0.1", isGiven: false });
    expect(run.dialect.signs.map(({ spec }) => spec)).toEqual(Array(4).fill("1.0.1"));
    expect(run.dialect.signs).toContainEqual({
      what: "VERSION_NOT_SUPPORTED over gRPC",
      seen: "FAILED_PRECONDITION (9)",
      spec: "1.0.1",
    });
  });

  it("is the older one where all numbers are", async () => {
    await using proxy = await startAlteringProxy(reference.url, {
      alter(answer) {
        if (answer.body.includes('"TASK_NOT_CANCELABLE"')) {
          answer.body = answer.body.replace(`"code":${answer.status}`, '"code":409');
          answer.status = 409;
        }
        if (answer.path !== cardPath) answer.headers.set("content-type", "application/json");
      },
    });
    using run = await runConformance(proxy.url);
    expect(run.dialect).toStrictEqual({
      spec: "1.0.0",
      isGiven: false,
      signs: [
        { what: "TASK_NOT_CANCELABLE over HTTP+JSON", seen: "HTTP 409", spec: "1.0.0" },
        {
          what: "media type of HTTP+JSON answers to requests that name none",
          seen: "application/json",
          spec: "1.0.0",
        },
      ],
    });
    const about: ConformanceOptions = { agent: "any", only: ["E-7"], places: ["http-json"] };
    expect(only(await examine(proxy.url, about), "failed")).toEqual([]);
    const strict = await examine(proxy.url, { ...about, spec: "1.0.1" });
    expect(only(strict, "failed").map(({ scenario }) => scenario.title)).toEqual([
      "has the number for a cancel that comes too late, and a sentence",
    ]);
  });
});
