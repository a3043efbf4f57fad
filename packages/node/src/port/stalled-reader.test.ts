// A reader that takes nothing costs its connection, and no event: it goes on where it was (docs/streams.md).
import { A2AService, Role, type StreamResponse } from "@a2a-connect/proto";
import { type AgentDefinition, createAgentServer } from "@a2a-connect/server";
import { type CallOptions, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, it } from "vitest";
import { aborted } from "../../test-support/handlers.ts";
import { type Listener, listen } from "./listen.ts";

/** More than all buffers between the two ends hold. */
const chunkCount = 512;
const chunk = "x".repeat(32 * 1024);

const agent: AgentDefinition = {
  card: { name: "Flood" },
  async *execute(turn) {
    for (let index = 0; index < chunkCount; index += 1) yield turn.append("flood", `${index} ${chunk}`);
  },
};

const stalledReaderTimeoutMs = 150;
const header = { "a2a-version": "1.0" };
const everyChunk = Array.from({ length: chunkCount }, (_, index) => index);

describe("a reader that takes nothing", () => {
  it("is cut off on SSE and goes on with Last-Event-ID", async () => {
    await using flood = await startFlood();
    const stalled = await fetch(`${flood.url}/rest/message:stream`, {
      method: "POST",
      headers: { ...header, "content-type": "application/json" },
      body: JSON.stringify({ message: { messageId: "1", role: "ROLE_USER", parts: [{ text: "go" }] } }),
    });
    expect(await flood.firstCallerGone).toMatchObject({ rawMessage: "the caller went away" });
    const before = await readEvents(stalled);
    expect(before.broken).toBe(true);
    const taskId = before.events[0]?.message.task?.id;

    const rest = await readEvents(
      await fetch(`${flood.url}/rest/tasks/${taskId}:subscribe`, {
        headers: { ...header, "last-event-id": String(before.events.at(-1)?.id) },
      }),
    );
    expect(rest.broken).toBe(false);
    const all = [...before.events, ...rest.events];
    expect(all.map(({ id }) => id)).toEqual(all.map((_, index) => index + 1));
    expect(all.flatMap(({ message }) => chunkIn(message.artifactUpdate?.artifact.parts))).toEqual(everyChunk);
  });

  it("is cut off on gRPC and goes on with Last-Event-ID", async () => {
    await using flood = await startFlood();
    const client = createClient(A2AService, createGrpcTransport({ baseUrl: flood.url }));
    let firstId = 0;
    const options: CallOptions = {
      headers: header,
      onHeader: (fields) => {
        firstId = Number(fields.get("x-a2a-event-id"));
      },
    };
    const message = {
      messageId: "1",
      role: Role.USER,
      parts: [{ content: { case: "text" as const, value: "go" } }],
    };
    const stream = client.sendStreamingMessage({ message }, options)[Symbol.asyncIterator]();
    const first = await stream.next();
    expect(await flood.firstCallerGone).toMatchObject({ rawMessage: "the caller went away" });
    const before: StreamResponse[] = first.done === true ? [] : [first.value];
    await expect(collect({ [Symbol.asyncIterator]: () => stream }, before)).rejects.toThrow();
    expect(firstId).toBe(1);

    const lastEventId = String(firstId + before.length - 1);
    const rest: StreamResponse[] = [];
    const id = before[0]?.payload.case === "task" ? before[0].payload.value.id : "";
    await collect(
      client.subscribeToTask({ id }, { ...options, headers: { ...header, "last-event-id": lastEventId } }),
      rest,
    );
    expect(firstId).toBe(before.length + 1);
    const chunks = [...before, ...rest].flatMap(({ payload }) =>
      payload.case === "artifactUpdate"
        ? chunkIn(payload.value.artifact?.parts.map(({ content }) => ({ text: String(content.value) })))
        : [],
    );
    expect(chunks).toEqual(everyChunk);
  });
});

interface Flood extends AsyncDisposable {
  readonly url: string;
  /** Why the first call's signal aborted. */
  readonly firstCallerGone: Promise<unknown>;
}

async function startFlood(): Promise<Flood> {
  const server = createAgentServer({ agent });
  const { promise, resolve } = Promise.withResolvers<unknown>();
  await server.start();
  const listener: Listener = await listen(
    (request) => {
      void aborted(request.signal).then(resolve);
      return server.handle(request);
    },
    { stalledReaderTimeoutMs },
  );
  return {
    url: listener.url,
    firstCallerGone: promise,
    async [Symbol.asyncDispose]() {
      await listener.close({ graceMs: 0, timeoutMs: 0 });
      await server.close();
    },
  };
}

interface WireParts {
  readonly parts: readonly { readonly text: string }[];
}

interface SseEvent {
  readonly id: number;
  readonly message: {
    readonly task?: { readonly id: string };
    readonly artifactUpdate?: { readonly artifact: WireParts };
  };
}

/** The whole events of a stream, and whether it broke off. */
async function readEvents(response: Response): Promise<{ events: SseEvent[]; broken: boolean }> {
  const decoder = new TextDecoder();
  let text = "";
  let broken = false;
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  } catch {
    broken = true;
  }
  const events = text
    .split("\n\n")
    .slice(0, -1)
    .flatMap((event) => {
      const [, id, data] = /^id: (\d+)\ndata: (.*)$/m.exec(event) ?? [];
      return data === undefined ? [] : [{ id: Number(id), message: JSON.parse(data) as SseEvent["message"] }];
    });
  return { events, broken };
}

async function collect(stream: AsyncIterable<StreamResponse>, into: StreamResponse[]): Promise<void> {
  for await (const response of stream) into.push(response);
}

/** The number that a chunk begins with. */
function chunkIn(parts: WireParts["parts"] = []): number[] {
  return parts.map(({ text }) => Number.parseInt(text, 10));
}
