import { defineAgent } from "@a2a-connect/server";

export default defineAgent({
  card: {
    name: "{{title}}",
    description: "Counts the words of a text and finds the longest one. Keeps nothing of it.",
    version: "0.1.0",
    skills: [
      {
        id: "count",
        name: "Count words",
        description:
          "Counts the words of a text and finds the longest one. Asks for a text when there is none.",
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
    const words = turn.text.match(/[\p{L}\p{N}'’]+/gu) ?? [];
    if (words.length === 0) {
      return yield turn.inputRequired("Which text shall I count?");
    }
    yield turn.working("counting", { progress: 0.5 });
    const longest = words.reduce((best, word) => (word.length > best.length ? word : best));
    yield turn.artifact({ name: "count", data: { words: words.length, longest } });
  },
});
