// Frameworks that read the bodies of requests before the agent gets them.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAgentServer, defineAgent, toNodeHandler } from "@a2a-connect/node";
import { connectAgent } from "@a2a-connect/node/client";
import express, { json } from "express";
import Fastify from "fastify";
import { expect, it, onTestFinished } from "vitest";

const agent = defineAgent({
  card: { name: "Echo" },
  *execute(turn) {
    yield turn.reply(turn.text);
  },
});

it("answers behind express.json()", async () => {
  const app = express();
  app.use(json());
  app.use("/a2a", toNodeHandler(createAgentServer({ agent })));
  const http = app.listen(0, "127.0.0.1", () => {});
  onTestFinished(() => void http.close());
  await once(http, "listening");
  const { port } = http.address() as AddressInfo; // it listens on TCP
  await using client = await connectAgent(`http://127.0.0.1:${port}/a2a`);
  expect((await client.run("hello")).text()).toBe("hello");
});

it("says in the log that Fastify has read the body", async () => {
  const log: unknown[] = [];
  const handler = toNodeHandler(createAgentServer({ agent, log: (record) => log.push(record) }));
  const app = Fastify();
  app.all("/*", (request, reply) => {
    reply.hijack();
    handler(request.raw, reply.raw);
  });
  onTestFinished(() => app.close());
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/rpc`, { method: "POST", headers, body: "{}" });
  expect(response.status).toBe(500);
  expect(log).toEqual([
    expect.objectContaining({
      error: expect.objectContaining({ message: expect.stringContaining("parses bodies") }),
    }),
  ]);
});
