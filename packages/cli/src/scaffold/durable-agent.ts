import type { AgentTemplate, ProjectName } from "./project-files.ts";

/** An agent whose task survives a crash, question and all. */
export function durableAgent({ title }: ProjectName): AgentTemplate {
  return {
    example: "A table for two, please",
    summary: "Offers a table and books it when told to. Its tasks survive a crash at any point.",
    agent: `import { defineAgent } from "@a2a-connect/server";

export default defineAgent({
  card: {
    name: "${title}",
    description: "Books tables: offers one that is free, and books it when told to.",
    version: "0.1.0",
    skills: [
      {
        id: "book",
        name: "Book a table",
        description: "Finds a free table, asks whether to book it, and books it.",
        tags: ["booking"],
        examples: ["A table for two, please"],
        inputModes: ["text/plain"],
        outputModes: ["application/json"],
      },
    ],
  },
  lifecycle: { asks: true, reportsProgress: true },

  // One generator for the whole task. After a crash it runs again from the top: what went through
  // the task's tools is remembered and not done again, so everything else has to be deterministic.
  durable: true,
  async *execute(task) {
    yield task.working("looking for a table", { progress: 0.2 });
    const offer = await task.step("search", () => searchTable());
    const answer = yield* task.ask({
      text: \`Table \${offer.table} for \${offer.price} EUR?\`,
      choices: ["yes", "no"],
    });
    if (answer.text === "no") {
      return yield task.reject("Then there is nothing to book.", { reason: "declined" });
    }
    yield task.artifact({ name: "booking", data: { ...offer, booked: new Date(task.now()).toISOString() } });
  },
});

/** Whatever asks the outside world belongs into a step: its result is stored before it is used. */
async function searchTable(): Promise<{ table: number; price: number }> {
  return { table: 1 + Math.floor(Math.random() * 20), price: 40 };
}
`,
    test: `import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAgent, type Question } from "@a2a-connect/client";
import { serve } from "@a2a-connect/node";
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

  const [, table] = /Table (\\d+)/.exec(question.text) ?? [];
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
`,
  };
}
