import type { JsonValue } from "@bufbuild/protobuf";

/** What the test asks the page to do with `@a2a-connect/client`. Messages are in ProtoJSON. */
export interface ClientPageApi {
  /** Discovers the agent by its card, and calls this interface alone; its name and the interface in use. */
  connect(
    agentUrl: string,
    binding: string,
    version: string,
  ): Promise<{ readonly name: string; readonly binding: string; readonly version: string }>;
  /** `run`; questions are answered by `answer` of the test. */
  run(text: string): Promise<string>;
  /** `stream`, its events to `seen` one by one, to the end. */
  stream(text: string): Promise<void>;
}

declare global {
  /** Set by the page. */
  var clientPage: ClientPageApi;
  /** Set by the test: an event was delivered; resolves when the page may go on. */
  function delivered(event: JsonValue): Promise<void>;
  /** Set by the test: answers a question. */
  function answer(question: string): Promise<string>;
}
