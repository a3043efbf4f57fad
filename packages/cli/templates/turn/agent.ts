import { setTimeout } from "node:timers/promises";
import { defineAgent } from "a2a-connect";

export default defineAgent({
  card: {
    name: "{{title}}",
    description: "{{summary}}",
    version: "0.1.0",
    skills: [
      {
        id: "answer",
        name: "Answer",
        description: "Answers a question in plain text, which callers read while it is written.",
        tags: ["text"],
        examples: ["{{example}}"],
        inputModes: ["text/plain"],
        outputModes: ["text/plain"],
      },
    ],
  },
  lifecycle: { asks: true, reportsProgress: true },

  // Runs once for each message. Returning completes the task; a question leaves it waiting, and the
  // next message starts the next turn.
  async *execute(turn) {
    if (turn.text === "") {
      return yield turn.inputRequired("What would you like to know?");
    }
    yield turn.working("thinking");
    for await (const words of complete(turn.text, turn.signal)) {
      yield turn.append("answer", words);
    }
  },
});

/** Stands in for a model: put the stream of yours here. It stops when the task is canceled. */
async function* complete(prompt: string, signal: AbortSignal): AsyncGenerator<string> {
  const beginning = prompt.slice(0, 200); // a caller may send megabytes
  const answer = `You asked: “${beginning}” A model would answer here, word by word.`;
  for (const words of answer.split(/(?<= )/)) {
    await setTimeout(40, undefined, { signal });
    yield words;
  }
}
