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
 * connection broke.
 *
 * @param maxLength longest event in UTF-16 units
 * @throws ConnectError ResourceExhausted for a longer event, Unavailable when the stream ends within one
 */
export async function* parseEvents(
  chunks: AsyncIterable<Uint8Array>,
  maxLength: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<ServerSentEvent, void> {
  const builder = createEventBuilder();
  for await (const { lines, pendingLength } of splitLines(chunks)) {
    for (const line of lines) {
      const event = builder.take(line);
      if (builder.length() > maxLength || (event?.data.length ?? 0) > maxLength) {
        throw tooLong(maxLength);
      }
      if (event !== undefined) {
        yield event;
      }
    }
    if (builder.length() + pendingLength > maxLength) {
      throw tooLong(maxLength);
    }
  }
  if (builder.length() > 0) {
    throw new ConnectError("the stream was cut off within an event", Code.Unavailable);
  }
}

function tooLong(maxLength: number): ConnectError {
  return responseTooLarge(maxLength, `an event of the stream is longer than the limit of ${maxLength} bytes`);
}

interface LineBatch {
  /** Complete lines without their ends. */
  readonly lines: readonly string[];
  /** How much of the next line has arrived. */
  readonly pendingLength: number;
}

async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LineBatch, void> {
  const decoder = new TextDecoder(); // skips a byte order mark, replaces invalid UTF-8
  let pending = "";
  let afterCarriageReturn = false;
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true });
    if (text === "") {
      continue;
    }
    const ended = text.endsWith("\r");
    if (afterCarriageReturn && text.startsWith("\n")) {
      text = text.slice(1); // the second half of a CRLF
    }
    afterCarriageReturn = ended;
    const lines = text.split(/\r\n|\r|\n/);
    lines[0] = pending + (lines[0] ?? "");
    pending = lines.pop() ?? "";
    yield { lines, pendingLength: pending.length };
  }
  if (pending.startsWith("data")) {
    yield { lines: [pending], pendingLength: 0 }; // so that the incomplete event is noticed
  }
}

interface EventBuilder {
  /** Takes one line without its end; returns the event that the line completes. */
  take(line: string): ServerSentEvent | undefined;
  /** Length of the event so far. */
  length(): number;
}

function createEventBuilder(): EventBuilder {
  let data: string[] = [];
  let length = 0;
  let lastEventId = "";

  function dispatch(): ServerSentEvent | undefined {
    const event = data.length === 0 ? undefined : { data: data.join("\n"), lastEventId };
    data = [];
    length = 0;
    return event;
  }

  return {
    take(line) {
      if (line === "") {
        return dispatch();
      }
      const [name, value] = splitField(line);
      if (name === "data") {
        data.push(value);
        length += line.length;
      } else if (name === "id" && !value.includes("\0")) {
        lastEventId = value;
      }
      return undefined;
    },
    length: () => length,
  };
}

/** Name and value of a field line; a comment has the empty name. */
function splitField(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  if (colon === -1) {
    return [line, ""];
  }
  const from = line[colon + 1] === " " ? colon + 2 : colon + 1;
  return [line.slice(0, colon), line.slice(from)];
}
