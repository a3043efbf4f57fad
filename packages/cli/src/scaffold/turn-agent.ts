import type { AgentTemplate, ProjectName } from "./project-files.ts";

/** An agent that runs once for each message, and asks when one says nothing. */
export function turnAgent({ title }: ProjectName): AgentTemplate {
  return {
    example: "The cat sat on the mat.",
    summary: "Counts the words of a text, and asks for one when it gets none.",
    agent: `import { defineAgent } from "@a2a-connect/server";

export default defineAgent({
  card: {
    name: "${title}",
    description: "Counts the words of a text and finds the longest one. Keeps nothing of it.",
    version: "0.1.0",
    skills: [
      {
        id: "count",
        name: "Count words",
        description: "Counts the words of a text and finds the longest one. Asks for a text when there is none.",
        tags: ["text"],
        examples: ["The cat sat on the mat."],
        inputModes: ["text/plain"],
        outputModes: ["application/json"],
      },
    ],
  },
  lifecycle: { asks: true, reportsProgress: true },

  // Runs once for each message. Returning completes the task; a question leaves it waiting, and the
  // next message starts the next turn.
  async *execute(turn) {
    const words = turn.text.match(/[\\p{L}\\p{N}'’]+/gu) ?? [];
    if (words.length === 0) {
      return yield turn.inputRequired("Which text shall I count?");
    }
    yield turn.working("counting", { progress: 0.5 });
    const longest = words.reduce((best, word) => (word.length > best.length ? word : best));
    yield turn.artifact({ name: "count", data: { words: words.length, longest } });
  },
});
`,
    test: `import { connectAgent } from "@a2a-connect/client";
import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { expect, it } from "vitest";
import agent from "./agent.ts";

// A real server on a port of its own, and a real client.
const serveAgent = () => serve(agent, { store: createMemoryTaskStore() });

it("counts the words of a text", async () => {
  await using served = await serveAgent();
  await using client = await connectAgent(served.url);

  const result = await client.run("The cat sat on the mat.");

  expect(result.artifact("count").json()).toEqual({ words: 6, longest: "The" });
});

it("asks for a text when there is none", async () => {
  await using served = await serveAgent();
  await using client = await connectAgent(served.url);

  const questions: string[] = [];
  const result = await client.run("…", {
    onInputRequired: ({ text }) => {
      questions.push(text);
      return "Thank you";
    },
  });

  expect(questions).toEqual(["Which text shall I count?"]);
  expect(result.artifact("count").json()).toEqual({ words: 2, longest: "Thank" });
});
`,
  };
}
