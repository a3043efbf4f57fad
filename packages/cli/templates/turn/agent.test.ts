import { connectAgent, createMemoryTaskStore, serve } from "a2a-connect";
import { expect, it } from "vitest";
import agent from "./agent.ts";

// A real server on a port of its own, and a real client.
const serveAgent = () => serve(agent, { store: createMemoryTaskStore() });

it("answers, and can be read while it writes", async () => {
  await using served = await serveAgent();
  await using client = await connectAgent(served.url);

  const kinds: string[] = [];
  for await (const { payload } of client.stream("What is A2A?")) kinds.push(payload.case ?? "");

  expect(kinds.filter((each) => each === "artifactUpdate").length).toBeGreaterThan(5);
});

it("asks for a question when there is none", async () => {
  await using served = await serveAgent();
  await using client = await connectAgent(served.url);

  const questions: string[] = [];
  const result = await client.run("", {
    onInputRequired: ({ text }) => {
      questions.push(text);
      return "What is A2A?";
    },
  });

  expect(questions).toEqual(["What would you like to know?"]);
  expect(result.text()).toContain("What is A2A?");
});
