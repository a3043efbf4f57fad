import type { Message } from "@a2a-connect/proto";
import { type AgentDefinition, type DurableEvent, type DurableTask, defineAgent } from "@a2a-connect/server";

/** What its tasks come to: the chunks of both halves of the story. */
export function wholeStory(): string {
  return [...tell(0, half), ...tell(half, 2 * half)].join("");
}

/** What it asks, in order, and what to answer. */
export const questions: readonly { readonly text: string; readonly answer: string }[] = [
  { text: "Weiter? 🌒", answer: "yes" },
  { text: "To what end?", answer: "happy" },
];

const half = 8;

/**
 * Tells a story in chunks of letters of one to four bytes, asks in the middle and before the end, and closes with data. A
 * task of it is always the same but for ids and times.
 */
export const chaosAgent: AgentDefinition = defineAgent({
  card: { name: "Chaos agent" },
  durable: true,
  execute: story,
});

async function* story(task: DurableTask): AsyncGenerator<DurableEvent, void, Message> {
  yield task.working("Es war einmal …", { progress: 0 });
  for (const chunk of tell(0, half)) {
    yield task.append("story", chunk);
    await task.sleep(1);
  }
  const [first, second] = questions;
  yield* task.ask({ text: first?.text ?? "", choices: ["yes", "no"] });
  for (const chunk of tell(half, 2 * half)) {
    yield task.append("story", chunk, { last: chunk.startsWith(`${2 * half - 1} `) });
  }
  yield task.working("almost there", { progress: 0.9 });
  const { text: end } = yield* task.ask(second?.text ?? "");
  yield task.artifact({ name: "end", data: { end, letters: "ä語🌍" } });
  yield task.complete("The end.");
}

function* tell(from: number, to: number): Generator<string> {
  for (let chunk = from; chunk < to; chunk++) yield `${chunk} ${"aü語🌍".repeat(5 * chunk)}\n`;
}
