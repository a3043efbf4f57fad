import { connectAgent } from "@a2a-connect/client";
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
