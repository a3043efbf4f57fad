import { formatMessage, parseMessage, statusOfEvent } from "@a2a-connect/core/internal";
import { type StreamResponse, StreamResponseSchema, type TaskStatus } from "@a2a-connect/proto";
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";

/** One event of a task. Of a file's events only those that are looked at are read as messages. */
export class LoggedEvent {
  /** Its number, by which a stream goes on after it; undefined when the agent does not number its events. */
  readonly id: number | undefined;
  /** When the page got it, if it came as it happened. */
  readonly receivedMs: number | undefined;
  readonly #line: string | undefined;
  #response: StreamResponse | undefined;

  private constructor(
    id: number | undefined,
    receivedMs: number | undefined,
    source: { readonly line?: string; readonly response?: StreamResponse },
  ) {
    this.id = id;
    this.receivedMs = receivedMs;
    this.#line = source.line;
    this.#response = source.response;
  }

  static received(
    response: StreamResponse,
    id: number | undefined,
    receivedMs: number | undefined,
  ): LoggedEvent {
    return new LoggedEvent(id, receivedMs, { response });
  }

  /** An event of a file, as one of its lines. The line is read when its content is wanted. */
  static fromLine(line: string, position: number): LoggedEvent {
    const [, id] = /^\{"id":(\d{1,15}),/.exec(line) ?? [];
    const [, received] = /^\{"id":[^,]{1,20},"received":"([^"]{1,40})"/.exec(line) ?? [];
    const receivedMs = received === undefined ? Number.NaN : Date.parse(received);
    return new LoggedEvent(
      id === undefined ? position : Number(id),
      Number.isNaN(receivedMs) ? undefined : receivedMs,
      { line },
    );
  }

  /** The event as a message. One that cannot be read is empty: a file may have been changed. */
  get response(): StreamResponse {
    this.#response ??= parseLine(this.#line ?? "");
    return this.#response;
  }

  get payload(): StreamResponse["payload"] {
    return this.response.payload;
  }

  get status(): TaskStatus | undefined {
    return statusOfEvent(this.response);
  }

  /** Whether it changes the state, without reading a whole line of a file for it. */
  get mayChangeState(): boolean {
    if (this.#response !== undefined || this.#line === undefined) return this.status !== undefined;
    const [, kind] = /"event":\{"(\w{1,20})"/.exec(this.#line.slice(0, 200)) ?? [];
    return kind !== "artifactUpdate";
  }

  /** When it happened: as the agent says, else when it came. */
  get atMs(): number | undefined {
    const timestamp = this.status?.timestamp;
    return timestamp === undefined ? this.receivedMs : timestampMs(timestamp);
  }

  get json(): JsonValue {
    return formatMessage(StreamResponseSchema, this.response);
  }

  /** The line of a file that has it. */
  toLine(): string {
    if (this.#line !== undefined) return this.#line;
    const received =
      this.receivedMs === undefined ? {} : { received: new Date(this.receivedMs).toISOString() };
    return JSON.stringify({ id: this.id ?? null, ...received, event: this.json });
  }
}

function parseLine(line: string): StreamResponse {
  try {
    const { event } = JSON.parse(line) as JsonObject; // what is no object has no event
    return parseMessage(StreamResponseSchema, event, { isLenient: true });
  } catch {
    return create(StreamResponseSchema);
  }
}
