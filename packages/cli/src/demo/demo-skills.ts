import { setTimeout as pause } from "node:timers/promises";
import { crc32, deflateSync } from "node:zlib";
import { bytes, text } from "@a2a-connect/core";
import type { SkillDefinition } from "@a2a-connect/server";
import { expectedFailureTag } from "../smoke/expected-failure.ts";

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

/** One skill for everything that a task can do. A message's first word names its skill. */
export const demoSkills: readonly SkillDefinition[] = [
  {
    id: "echo",
    name: "Echo",
    description:
      "Answers with the words after `echo`, and whatever came with them, as a direct message: no task.",
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
    description: "Asks a question with three answers to choose from, and again when another one is given.",
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
        parts: [bytes(samplePng(), { mediaType: "image/png", filename: "disc.png" })],
      });
      yield turn.artifact({
        name: "table",
        parts: [bytes(sampleCsv(), { mediaType: "text/csv", filename: "cities.csv" })],
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
    description: "Refuses the task before any work, with a reason, as agents do that are at their limit.",
    tags: [...tags, expectedFailureTag],
    examples: ["reject"],
    *execute(turn) {
      yield turn.reject("This agent does not do that, on purpose.", { reason: "demo-refusal" });
    },
  },
];

const size = 64;

/** A PNG of 64 by 64 pixels: a disc with a gradient. */
export function samplePng(): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, size);
  view.setUint32(4, size);
  header.set([8, 2], 8); // 8 bits a channel, RGB
  const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
  const chunks = [
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(pixels())),
    chunk("IEND", new Uint8Array()),
  ];
  return concat([signature, ...chunks]);
}

/** A CSV file of five rows, with quotes and an umlaut in it. */
export function sampleCsv(): Uint8Array {
  return new TextEncoder().encode(
    'city,country,"inhabitants, in millions"\nLima,Peru,10.1\nKöln,Germany,1.1\nOslo,Norway,0.7\nPune,India,7.2\n',
  );
}

/** Rows of RGB, each behind its filter byte 0. */
function pixels(): Uint8Array {
  const rows = new Uint8Array(size * (1 + size * 3));
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const inside = Math.hypot(x - size / 2, y - size / 2) < size / 2;
      const colour = inside ? [x * 4, 96, y * 4] : [255, 255, 255];
      rows.set(colour, y * (1 + size * 3) + 1 + x * 3);
    }
  }
  return rows;
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const body = concat([new TextEncoder().encode(type), content]);
  const framed = new Uint8Array(body.length + 8);
  const view = new DataView(framed.buffer);
  view.setUint32(0, content.length);
  framed.set(body, 4);
  view.setUint32(4 + body.length, crc32(body));
  return framed;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
