import { Code, ConnectError } from "@connectrpc/connect";
import { responseTooLarge } from "../fetch/response-errors.ts";

/** One server-sent event that has data. */
export interface ServerSentEvent {
  /** Its `data` lines, joined by line feeds. */
  readonly data: string;
  /** The last `id` of the stream so far; empty when none was sent. */
  readonly lastEventId: string;
}

/**
 * Parses `text/event-stream` by the HTML standard, for any division of the bytes into chunks: lines end in CR, LF or
 * CRLF, one byte order mark is skipped, data may span several lines, comments and unknown fields are skipped.
 *
 * One thing differs: when the stream ends within an event, the standard drops the event. Here it means that the
 * connection broke. Give it a chunk, and take its events until there is none left.
 */
export class EventParser {
  readonly #maxLength: number;
  /** Skips a byte order mark, replaces invalid UTF-8, and keeps the beginning of a character for the next chunk. */
  readonly #decoder = new TextDecoder();
  /** Whether the next chunk is the first, or may begin within a character. */
  #isDivided = true;
  /** Complete lines without their ends, and how many of them were read. */
  #lines: readonly string[] = [];
  #read = 0;
  /** What has arrived of the next line. */
  readonly #pending = new PendingLine();
  #afterCarriageReturn = false;
  /** The event so far: its data lines, and what they count towards the limit. */
  #data: string[] = [];
  #length = 0;
  #lastEventId = "";

  /** @param maxLength longest event in UTF-16 units; each further line of its data counts 32 more */
  constructor(maxLength: number = Number.POSITIVE_INFINITY) {
    this.#maxLength = maxLength;
  }

  /** Takes the next chunk, when all events of the chunk before it were taken. */
  push(chunk: Uint8Array): void {
    let text = this.#decode(chunk);
    if (text === "") {
      return;
    }
    const ended = text.endsWith("\r");
    if (this.#afterCarriageReturn && text.startsWith("\n")) {
      text = text.slice(1); // the second half of a CRLF
    }
    this.#afterCarriageReturn = ended;
    const lines = text.includes("\r") ? text.split(/\r\n|\r|\n/) : text.split("\n");
    if (lines.length > 1) {
      lines[0] = this.#pending.end(lines[0] ?? "");
    }
    this.#pending.append(lines.pop() ?? "");
    this.#lines = lines;
    this.#read = 0;
  }

  /** A chunk of whole characters is decoded in one go, at a third of the cost. */
  #decode(chunk: Uint8Array): string {
    const [began, last] = [this.#isDivided, chunk.at(-1)];
    this.#isDivided = last === undefined ? began : last >= 0x80;
    return began || this.#isDivided
      ? this.#decoder.decode(chunk, { stream: true })
      : wholeDecoder.decode(chunk);
  }

  /** The next event; undefined when it needs another chunk. @throws ConnectError ResourceExhausted for a longer event */
  next(): ServerSentEvent | undefined {
    while (this.#read < this.#lines.length) {
      const line = this.#lines[this.#read] ?? "";
      this.#read += 1;
      const event = line === "" ? this.#dispatch() : this.#take(line);
      this.#check(event?.data.length ?? this.#length);
      if (event !== undefined) {
        return event;
      }
    }
    this.#check(this.#length + this.#pending.length);
    return undefined;
  }

  /** The stream has ended. @throws ConnectError Unavailable when that was within an event */
  end(): void {
    if (this.#length > 0 || this.#pending.isData) {
      throw new ConnectError("the stream was cut off within an event", Code.Unavailable);
    }
  }

  #take(line: string): undefined {
    const [name, value] = splitField(line);
    if (name === "data") {
      this.#length += line.length + (this.#data.length === 0 ? 0 : lineOverhead);
      this.#data.push(value);
    } else if (name === "id" && !value.includes("\0")) {
      this.#lastEventId = value;
    }
  }

  #dispatch(): ServerSentEvent | undefined {
    const data = this.#data;
    if (data.length === 0) {
      return undefined;
    }
    this.#data = [];
    this.#length = 0;
    const [only = ""] = data;
    return { data: data.length === 1 ? only : data.join("\n"), lastEventId: this.#lastEventId };
  }

  #check(length: number): void {
    if (length > this.#maxLength) {
      const limit = this.#maxLength;
      throw responseTooLarge(limit, `an event of the stream is longer than the limit of ${limit} bytes`);
    }
  }
}

/**
 * A line whose end has not arrived. V8 keeps each piece of a string that grows, 32 bytes for each, until something needs
 * the characters in one place: a regular expression does. A line may come in millions of pieces of one byte, so the
 * pieces are put together block by block, and the blocks at the end of the line.
 */
class PendingLine {
  readonly #blocks: string[] = [];
  #blocksLength = 0;
  #last = "";

  get length(): number {
    return this.#blocksLength + this.#last.length;
  }

  get isData(): boolean {
    return (this.#blocks[0] ?? this.#last).startsWith("data");
  }

  append(piece: string): void {
    this.#last += piece;
    if (this.#last.length >= blockLength) {
      anything.test(this.#last);
      this.#blocks.push(this.#last);
      this.#blocksLength += this.#last.length;
      this.#last = "";
    }
  }

  /** The whole line. The next one begins. */
  end(piece: string): string {
    const rest = this.#last + piece;
    this.#last = "";
    if (this.#blocksLength === 0) {
      return rest;
    }
    this.#blocksLength = 0;
    return this.#blocks.splice(0).join("") + rest;
  }
}

const anything = /^/;

const blockLength = 4_096;

/** What each further line of an event's data costs in memory besides its characters, in characters. */
const lineOverhead = 32;

/** A byte order mark after the beginning of a stream is a character like any other. */
const wholeDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Name and value of a field line; a comment has the empty name. */
function splitField(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  if (colon === -1) {
    return [line, ""];
  }
  const from = line[colon + 1] === " " ? colon + 2 : colon + 1;
  return [line.slice(0, colon), line.slice(from)];
}
