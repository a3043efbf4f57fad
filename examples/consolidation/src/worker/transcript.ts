import { plainText } from "./plain-text.ts";

/** One conversation, as it was written down. */
export interface Transcript {
  /** Unique in a batch, and over batches: what was extracted from a turn once is the same evidence ever after. */
  readonly id: string;
  /** When it began: RFC 3339, UTC. */
  readonly startedAt: string;
  readonly turns: readonly Turn[];
}

/** What one person said before somebody else did. */
export interface Turn {
  readonly speaker: string;
  readonly text: string;
}

/** A batch that cannot be worked on; the message is for its sender. */
export class BatchError extends Error {}

/** Beyond these a batch is refused. */
const limits = {
  turns: 2_000,
  textLength: 20_000,
  nameLength: 100,
  batchTurns: 10_000,
  batchLength: 1_000_000,
};

/** What the transcripts of a batch may still have together. */
export interface Room {
  turns: number;
  characters: number;
}

export function createRoom(): Room {
  return { turns: limits.batchTurns, characters: limits.batchLength };
}

/**
 * A transcript out of JSON that somebody sent; what it does not know is ignored.
 *
 * Its text is data and nothing else: it comes out without control characters, and nothing in it is obeyed.
 *
 * @param where names it in errors
 * @param room of its batch: its turns and their texts take their part
 * @throws BatchError with the first thing that is wrong
 */
export function parseTranscript(value: unknown, where: string, room: Room = createRoom()): Transcript {
  const { id, startedAt, turns } = object(value, where);
  const name = boundedText(id, limits.nameLength, `${where}.id`);
  const time = boundedText(startedAt, limits.nameLength, `${where}.startedAt`);
  if (!/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(time) || Number.isNaN(Date.parse(time))) {
    throw new BatchError(`${where}.startedAt is a time in UTC, such as 2025-01-31T12:00:00Z`);
  }
  if (!Array.isArray(turns) || turns.length > limits.turns) {
    throw new BatchError(`${where}.turns is a list of up to ${limits.turns} turns`);
  }
  room.turns -= turns.length;
  if (room.turns < 0) {
    throw new BatchError(`${where}.turns is beyond the ${limits.batchTurns} turns of a message`);
  }
  return {
    id: name,
    startedAt: new Date(time).toISOString(),
    turns: turns.map((turn: unknown, index) => {
      const place = `${where}.turns[${index}]`;
      const { speaker, text } = object(turn, place);
      room.characters -= typeof text === "string" ? text.length : 0;
      if (room.characters < 0) {
        throw new BatchError(
          `${place}.text is beyond the ${limits.batchLength} characters that all texts of a message have together`,
        );
      }
      return {
        speaker: boundedText(speaker, limits.nameLength, `${place}.speaker`),
        text: boundedText(text, limits.textLength, `${place}.text`),
      };
    }),
  };
}

function object(value: unknown, where: string): Partial<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BatchError(`${where} is an object`);
  }
  return value as Partial<Record<string, unknown>>; // any object is one, its members unknown
}

function boundedText(value: unknown, maxLength: number, where: string): string {
  const text = typeof value === "string" && value.length <= maxLength ? plainText(value) : "";
  if (text === "") {
    throw new BatchError(`${where} is a text of up to ${maxLength} characters`);
  }
  return text;
}
