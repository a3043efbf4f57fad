import { setTimeout as pause } from "node:timers/promises";
import { bytes, partText, text } from "@a2a-connect/core";
import type { Message } from "@a2a-connect/proto";
import { type AgentDefinition, defineAgent, type SkillDefinition } from "@a2a-connect/server";
import { expectedFailureTag } from "../smoke/run-example.ts";

const tags = ["demo"];

const sentences = [
  "Once a task was born in a log. ",
  "It was small and knew one message only. ",
  "Then it began to work, ",
  "and every word it said was written down ",
  "before anybody heard it. ",
  "One day the power failed. ",
  "When the light came back, ",
  "the task read what it had written ",
  "and went on with the next word, ",
  "as if nothing had happened.\n",
];

/** A PNG of 64 by 64 pixels: a blue disc. */
export const samplePng: Uint8Array = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAQMAAACQp+OdAAAABlBMVEX///88YMiI8e6vAAAAiklEQVR42r2SsQ3AIBADP6JIyQgZJaMlozFK" +
    "RqBMgXD0GJkCKUoVqiv+Ld62mdlerL0ApAYRyA0OoDYAgD7CodXhMrPN4XYVh8IlrgFcWwjngEBIlHEhQSRkCrv0DDuhDDgI9Q3Q3x/w5T/z" +
    "FS8ny5bZMZk5+6wIRiiKScEpSoWruEcBVAmVhLV5AKhsjxyWflnaAAAAAElFTkSuQmCC",
  "base64",
);

/** A CSV file of five rows, with quotes and an umlaut in it. */
export const sampleCsv: Uint8Array = Buffer.from(
  'city,country,"inhabitants, in millions"\nLima,Peru,10.1\nKöln,Germany,1.1\nOslo,Norway,0.7\nPune,India,7.2\n',
);

/** One skill for everything that a task can do. A message's first word names its skill. */
export const demoSkills: readonly SkillDefinition[] = [
  {
    id: "echo",
    name: "Echo",
    description:
      "Answers with the words after `echo` and the message's other parts, as a direct message: no task.",
    tags,
    examples: ["echo hello"],
    *execute(turn) {
      const others = turn.message.parts.filter(({ content }) => content.case !== "text");
      yield turn.reply([text(turn.text.replace(/^\s*echo\s*/i, "") || "…"), ...others]);
    },
  },
  {
    id: "story",
    name: "Story",
    description: "Tells a story bit by bit: an artifact in ten chunks, with progress.",
    tags,
    examples: ["story"],
    outputModes: ["text/plain"],
    async *execute(turn) {
      for (const [index, sentence] of sentences.entries()) {
        yield turn.working("telling", { progress: index / sentences.length });
        yield turn.append("story", sentence, { last: index === sentences.length - 1 });
        await pause(150, undefined, { signal: turn.signal });
      }
      yield turn.complete("The end.");
    },
  },
  {
    id: "choose",
    name: "Choose",
    description: "Asks a question with three answers to choose from, and asks again after any other answer.",
    tags,
    examples: ["choose"],
    durable: true,
    async *execute(task) {
      const drink = yield* task.ask({
        text: "What may I bring you?",
        choices: ["tea", "coffee", "water"],
      });
      yield task.artifact({ name: "order", text: `One ${drink.text}, please.` });
    },
  },
  {
    id: "form",
    name: "Form",
    description: "Asks for data that fits a JSON Schema: how many people, and when.",
    tags,
    examples: ["form"],
    durable: true,
    async *execute(task) {
      const { data } = yield* task.ask({
        text: 'For how many, and when? For example: {"people": 2, "time": "19:30"}',
        schema: {
          type: "object",
          properties: { people: { type: "integer", minimum: 1, maximum: 12 }, time: { type: "string" } },
          required: ["people", "time"],
        },
      });
      yield task.artifact({ name: "reservation", data: data ?? null });
    },
  },
  {
    id: "sign-in",
    name: "Sign in",
    description: "Stops for credentials (AUTH_REQUIRED). Any further message counts as having signed in.",
    tags,
    examples: ["sign-in"],
    durable: true,
    async *execute(task) {
      yield* task.askForAuth(
        "Sign in where this agent keeps its credentials (nowhere: this is a demo), then say so.",
      );
      yield task.complete("Thank you, you are in.");
    },
  },
  {
    id: "file",
    name: "File",
    description: "Gives two files, a picture and a table: `a2a task download` saves them.",
    tags,
    examples: ["file"],
    outputModes: ["image/png", "text/csv"],
    *execute(turn) {
      yield turn.artifact({
        name: "picture",
        parts: [bytes(samplePng, { mediaType: "image/png", filename: "disc.png" })],
      });
      yield turn.artifact({
        name: "table",
        parts: [bytes(sampleCsv, { mediaType: "text/csv", filename: "cities.csv" })],
      });
    },
  },
  {
    id: "slow",
    name: "Slow",
    description:
      "Works for a minute, or as many seconds as the message says: time to cancel, detach and subscribe.",
    tags,
    examples: ["slow 5", "slow"],
    async *execute(turn) {
      const seconds = Math.min(Number(/\d+/.exec(turn.text)?.[0] ?? 60), 3_600);
      for (let second = 0; second < seconds; second++) {
        yield turn.working(`second ${second + 1} of ${seconds}`, { progress: second / seconds });
        await pause(1_000, undefined, { signal: turn.signal });
      }
      yield turn.complete(`It took ${seconds} s.`);
    },
  },
  {
    id: "fail",
    name: "Fail",
    description: "Begins and fails, with a reason for programs and a sentence for people.",
    tags: [...tags, expectedFailureTag],
    examples: ["fail"],
    *execute(turn) {
      yield turn.working("trying");
      yield turn.fail("It did not work, on purpose.", { reason: "demo-failure" });
    },
  },
  {
    id: "reject",
    name: "Reject",
    description: "Refuses the task before any work, with a reason, like an agent that is at its limit.",
    tags: [...tags, expectedFailureTag],
    examples: ["reject"],
    *execute(turn) {
      yield turn.reject("This agent does not do that, on purpose.", { reason: "demo-refusal" });
    },
  },
];

/** An agent to practise every command with. */
export const demoAgent: AgentDefinition = defineAgent({
  card: {
    name: "a2a demo agent",
    description: "Does what the first word of a message says, so that you can practise every command of a2a.",
    version: "1.0.0",
    defaultInputModes: ["*/*"],
    defaultOutputModes: ["*/*"],
    skills: demoSkills,
  },
  lifecycle: { asks: true, asksForAuth: true, reportsProgress: true },
  route,
});

/** The skill that the first word names, echo where it names none. */
function route(message: Message): string {
  const [word = ""] = partText(message).trim().toLowerCase().split(/\s+/, 1);
  return demoSkills.some(({ id }) => id === word) ? word : "echo";
}
