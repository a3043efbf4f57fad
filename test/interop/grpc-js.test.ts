// Google's own client with a proto that it loads at run time, against what `npm start` serves.
import { randomBytes, randomUUID } from "node:crypto";
import { compressionAlgorithms, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { failureOf } from "../../packages/client/test-support/outcomes.ts";
import { type AgentProcess, startAgentProcess } from "./agent-process.ts";
import {
  createDynamicClient,
  type DynamicClient,
  type Json,
  loadProtos,
  messageType,
  serviceOf,
} from "./dynamic-client.ts";
import { type FrameRelay, startFrameRelay } from "./frame-relay.ts";

const serviceName = "lf.a2a.v1.A2AService";
const definition = loadProtos(
  "lf/a2a/v1/a2a.proto",
  "google/rpc/status.proto",
  "google/rpc/error_details.proto",
);

let agent: AgentProcess;
let client: DynamicClient;
beforeAll(async () => {
  agent = await startAgentProcess();
  client = createDynamicClient(agent.authority, definition, serviceName);
});
afterAll(async () => {
  client.close();
  expect(await agent.stop()).toEqual(new Set());
});

function message(text: string, fields: Json = {}): Json {
  return { message: { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text }], ...fields } };
}

async function sendForTask(text: string, fields: Json = {}): Promise<Json & { readonly id: string }> {
  const response = await client.unary("SendMessage", message(text, fields));
  return asTask(response);
}

describe("the service", () => {
  it("has the eleven methods of the proto (J-1)", () => {
    expect(Object.keys(definition[serviceName] ?? {})).toHaveLength(11);
  });

  it("answers a unary call", async () => {
    const task = await sendForTask("parts");
    expect(task).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [
        {
          parts: [
            { content: "text", text: "text" },
            { content: "raw", raw: Buffer.from([0, 1, 2, 253, 254, 255]), filename: "bytes.bin" },
            { content: "url", url: "https://example.com/file.txt" },
            { content: "data" },
          ],
        },
      ],
    });
    const response = await client.unary("GetTask", { id: task.id });
    expect(response).toEqual(task);
  });

  it("streams", async () => {
    const events = await Array.fromAsync(client.stream("SendStreamingMessage", message("stream 5 20")));
    expect(events.map(({ payload }) => payload)).toEqual([
      "task",
      ...Array(5).fill("artifactUpdate"),
      "statusUpdate",
    ]);
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  it("cancels and lists", async () => {
    const contextId = randomUUID();
    const { id } = await sendForTask("ask What?", { contextId });
    const canceled = await client.unary("CancelTask", { id });
    expect(canceled).toMatchObject({ id, status: { state: "TASK_STATE_CANCELED" } });
    const response = await client.unary("ListTasks", { contextId, status: "TASK_STATE_CANCELED" });
    expect(response).toMatchObject({ tasks: [{ id }], totalSize: 1, pageSize: 50 });
  });

  it("is UNIMPLEMENTED at a method that it does not have", async () => {
    const path = `/${serviceName}/NoSuchMethod`;
    const { GetTask } = serviceOf(definition, serviceName);
    if (GetTask === undefined) throw new Error("the service has GetTask");
    const wrong = { GetTask: { ...GetTask, path } };
    const other = createDynamicClient(agent.authority, { [serviceName]: wrong }, serviceName);
    onTestFinished(() => other.close());
    expect((await serviceErrorOf(other.unary("GetTask", { id: "t" }))).code).toBe(status.UNIMPLEMENTED);
  });
});

describe("an error", () => {
  it("has its status, its sentence and its ErrorInfo (J-4)", async () => {
    const failure = await serviceErrorOf(client.unary("GetTask", { id: "no-such-task" }));
    expect(failure.code).toBe(status.NOT_FOUND);
    expect(errorDetails(failure)).toEqual([
      {
        reason: "TASK_NOT_FOUND",
        domain: "a2a-protocol.org",
        metadata: { taskId: "no-such-task" },
      },
    ]);
  });

  it("says that a task has ended (A-7)", async () => {
    const { id } = await sendForTask("task hello");
    const failure = await serviceErrorOf(client.unary("SendMessage", message("more", { taskId: id })));
    expect(failure.code).toBe(status.FAILED_PRECONDITION);
    expect(errorDetails(failure)).toMatchObject([
      { reason: "UNSUPPORTED_OPERATION", metadata: { taskId: id } },
    ]);
  });

  it("reads as it was written, punctuation included", async () => {
    const { id } = await sendForTask("task hello");
    const failure = await serviceErrorOf(client.unary("SendMessage", message("more", { taskId: id })));
    expect(failure.details).toBe(statusDetails(failure)["message"]);
  });

  it("comes before the stream opens (A-27)", async () => {
    const failure = await serviceErrorOf(
      Array.fromAsync(client.stream("SubscribeToTask", { id: "no-such-task" })),
    );
    expect(failure.code).toBe(status.NOT_FOUND);
    expect(errorDetails(failure)).toMatchObject([{ reason: "TASK_NOT_FOUND" }]);
  });

  it("names the field that is wrong (J-8, E-3)", async () => {
    const failure = await serviceErrorOf(client.unary("SendMessage", {}));
    expect(failure.code).toBe(status.INVALID_ARGUMENT);
    expect(errorDetails(failure)).toMatchObject([
      { reason: "INVALID_PARAMS" },
      { fieldViolations: [{ field: "message" }] },
    ]);
  });

  it.each([
    ["absent", {}],
    ["unknown", { "a2a-version": "9.9" }],
  ])("says which versions there are when the version is %s (F-4, F-5, J-3)", async (_name, metadata) => {
    const failure = await serviceErrorOf(client.unary("GetTask", { id: "t" }, { metadata }));
    expect(failure.code).toBe(status.FAILED_PRECONDITION);
    expect(errorDetails(failure)).toMatchObject([
      { reason: "VERSION_NOT_SUPPORTED", metadata: { supportedVersions: "1.0,1.1" } },
    ]);
  });
});

describe("a call that ends before its task", () => {
  /** Long enough that the call is over first, short enough to be waited for. */
  const chunks = 60;
  const stream = `stream ${chunks} 25`;

  it.each([
    ["by its deadline", status.DEADLINE_EXCEEDED, () => ({ deadline: Date.now() + 1_000 }), () => {}],
    ["by its caller", status.CANCELLED, () => ({}), (call: { cancel(): void }) => call.cancel()],
  ])("ends %s, and the task goes on (J-5)", async (_name, code, options, atFirstChunk) => {
    const contextId = randomUUID();
    const call = client.stream("SendStreamingMessage", message(stream, { contextId }), options());
    let seen = 0;
    const reading = (async () => {
      for await (const { payload } of call) {
        if (payload === "artifactUpdate" && ++seen === 1) atFirstChunk(call);
      }
    })();
    expect((await serviceErrorOf(reading)).code).toBe(code);
    expect(seen).toBeLessThan(chunks);

    const response = await client.unary("ListTasks", { contextId });
    const [{ id }] = response["tasks"] as [{ id: string }];
    await ended(id);
    const task = await client.unary("GetTask", { id });
    expect(task).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
    const [{ parts }] = task["artifacts"] as [{ parts: { text: string }[] }];
    expect(parts.map(({ text }) => text).join("")).toContain(`chunk ${chunks} `);
  });

  /** Resolves when the task has ended, also when it had done so before. */
  async function ended(id: string): Promise<void> {
    try {
      await Array.fromAsync(client.stream("SubscribeToTask", { id }));
    } catch (error) {
      expect(errorDetails(error as ServiceError)).toMatchObject([{ reason: "UNSUPPORTED_OPERATION" }]);
    }
  }
});

describe("the channel", () => {
  async function dial(
    options: Parameters<typeof createDynamicClient>[3],
  ): Promise<{ relay: FrameRelay; over: DynamicClient }> {
    const relay = await startFrameRelay(agent.authority);
    const over = createDynamicClient(relay.authority, definition, serviceName, options);
    onTestFinished(() => {
      over.close();
      relay.close();
    });
    return { relay, over };
  }

  it("carries 4 MB both ways", async () => {
    const { relay, over } = await dial({ "grpc.max_receive_message_length": -1 });
    const noise = randomBytes(3 * 2 ** 20).toString("base64"); // nothing that compression could shorten much
    const response = await over.unary("SendMessage", message(`echo ${noise}`));
    expect(textOf(response)).toBe(noise);
    expect(relay.toServer.bytes).toBeGreaterThan(noise.length);
    expect(relay.toClient.bytes).toBeGreaterThan(3 * 2 ** 20);
  });

  it("carries it compressed with gzip both ways", async () => {
    const { relay, over } = await dial({
      "grpc.max_receive_message_length": -1,
      "grpc.default_compression_algorithm": compressionAlgorithms.gzip,
    });
    const text = randomBytes(750).toString("base64").repeat(4_200); // which shrinks to about an eightieth
    const response = await over.unary("SendMessage", message(`echo ${text}`));
    expect(textOf(response)).toBe(text);
    expect(relay.toServer.bytes).toBeLessThan(text.length / 20);
    expect(relay.toClient.bytes).toBeLessThan(text.length / 20);
  });

  it("refuses more than the server takes", async () => {
    const { over } = await dial({});
    const text = "x".repeat(16 * 2 ** 20 + 1);
    expect((await serviceErrorOf(over.unary("SendMessage", message(text)))).code).toBe(
      status.RESOURCE_EXHAUSTED,
    );
    expect(textOf(await over.unary("SendMessage", message("echo still here")))).toBe("still here");
  });

  it("answers the pings that keep an idle stream alive", async () => {
    const { relay, over } = await dial({ "grpc.keepalive_time_ms": 20, "grpc.keepalive_timeout_ms": 5_000 });
    const { id } = await sendForTask("ask What?");
    const events = over.stream("SubscribeToTask", { id })[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ task: { id } });
    await relay.ponged(relay.toClient.pongs + 10);
    await sendForTask("that", { taskId: id });
    const rest: Json[] = [];
    for (let next = await events.next(); !next.done; next = await events.next()) rest.push(next.value);
    expect(rest.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect(relay.toServer.pings).toBeGreaterThanOrEqual(10);
  });
});

function asTask(response: Json): Json & { readonly id: string } {
  expect(response).toMatchObject({ payload: "task", task: { id: expect.any(String) } });
  return response["task"] as Json & { readonly id: string }; // just seen
}

/** The text of a direct Message. */
function textOf(response: Json): string {
  expect(response).toMatchObject({ payload: "message", message: { parts: [{ content: "text" }] } });
  return (response["message"] as { parts: [{ text: string }] }).parts[0].text; // just seen
}

async function serviceErrorOf(call: Promise<unknown>): Promise<ServiceError> {
  const error = await failureOf(call);
  expect(error).toMatchObject({ code: expect.any(Number), details: expect.any(String) });
  return error as ServiceError; // just seen
}

/** The `google.rpc.Status` in the trailers, decoded with the same loaded protos. */
function statusDetails({ metadata }: ServiceError): Json {
  const [bytes] = metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(bytes)) throw new Error("the error has no details");
  return messageType(definition, "google.rpc.Status").deserialize(bytes);
}

/** Its details, each decoded as what it says it is. */
function errorDetails(failure: ServiceError): Json[] {
  const { code, details } = statusDetails(failure);
  expect(code).toBe(failure.code);
  return (details as { type_url: string; value: Buffer }[]).map(({ type_url, value }) => {
    const name = type_url.replace("type.googleapis.com/", "");
    return messageType(definition, name).deserialize(value);
  });
}
