import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAgent, serve } from "a2a-connect";
import type { Question } from "a2a-connect/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import agent from "./agent.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "agent-"));
});
afterAll(() => rm(directory, { recursive: true }));

// A real server on a port of its own, with its tasks in a file.
const serveAgent = () => serve(agent, { file: join(directory, "tasks.sqlite") });

it("books what it has offered", async () => {
  await using served = await serveAgent();
  await using client = await connectAgent(served.url);

  const result = await client.run("A table for two, please", { onInputRequired: () => "yes" });

  expect(result.artifact("booking").json()).toMatchObject({ price: 40 });
});

it("goes on after a restart with the table that it has offered", async () => {
  const question = await askAndStop();

  await using served = await serveAgent();
  await using client = await connectAgent(served.url);
  const result = await client.run({ taskId: question.taskId, parts: "yes" });

  const [, table] = /Table (\d+)/.exec(question.text) ?? [];
  expect(result.artifact("booking").json()).toMatchObject({ table: Number(table) });
});

/** Runs into the question, and leaves the task unanswered with its server stopped. */
async function askAndStop(): Promise<Question> {
  await using served = await serveAgent();
  await using client = await connectAgent(served.url);
  const asked = Promise.withResolvers<Question>();
  const stop = new AbortController();
  const run = client.run("A table for two, please", {
    signal: stop.signal,
    onInputRequired: (question) => {
      asked.resolve(question);
      stop.abort();
      return undefined;
    },
  });
  await run.catch(() => {}); // ends because of the stop; the task waits
  return asked.promise;
}
