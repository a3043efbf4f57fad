import type { JsonValue } from "@bufbuild/protobuf";

/** The wires that a page can use. */
export type BrowserWire = "Connect" | "gRPC-Web" | "HTTP+JSON" | "JSON-RPC";

/** An error as the page's client decoded it. */
export interface SeenError {
  readonly code: string;
  readonly message: string;
  /** `google.rpc.ErrorInfo` in its details. */
  readonly reason: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What the test asks the page to do. Messages are in ProtoJSON. */
export interface PageApi {
  /** Makes a client of the agent at this base URL; the calls after it use that. */
  connect(wire: BrowserWire, agentUrl: string): void;
  /** SendMessage. */
  send(text: string): Promise<JsonValue>;
  /** SendStreamingMessage, to its end. */
  stream(text: string): Promise<JsonValue[]>;
  /** GetTask of a task that does not exist: what the client threw. */
  fail(id: string): Promise<SeenError>;
  /** SubscribeToTask: hands each event to `seen` as it comes. Resolves at the end, with the error if there was one. */
  follow(id: string): Promise<SeenError | undefined>;
  /** Aborts what `follow` has begun. */
  leave(): void;
}

declare global {
  /** Set by the page. */
  var pageApi: PageApi;
  /** Set by the test: it knows of the event when the promise is fulfilled. */
  function seen(event: JsonValue): Promise<void>;
}
