import {
  AgentCardSchema,
  type Artifact,
  ListTasksResponseSchema,
  type Message,
  type Part,
  type SendMessageResponse,
  SendMessageResponseSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
} from "@a2a-connect/proto";
import { isMessage, type Message as ProtobufMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { judgedLaterKey } from "../call-options.ts";
import { UntrustedOutputError } from "../errors.ts";
import type { Inspect, Inspected } from "../options.ts";

/**
 * Shows everything in a response to `inspect`, one thing after the other, before the caller gets the response; for a
 * stream, before each of its messages. A refusal ends the call with a ConnectError, FailedPrecondition, whose cause is
 * an UntrustedOutputError.
 *
 * It must be the outermost interceptor, so that the caller gets exactly what it accepted.
 */
export function inspectResponses(inspect: Inspect): Interceptor {
  return (next) => async (request) => {
    const response = await next(request);
    if (response.stream) {
      return { ...response, message: inspectEach(response.message, inspect) };
    }
    if (!request.contextValues.get(judgedLaterKey)) {
      await inspectContent(response.message, inspect);
    }
    return response;
  };
}

async function* inspectEach<M extends ProtobufMessage>(
  messages: AsyncIterable<M>,
  inspect: Inspect,
): AsyncGenerator<M, void> {
  for await (const message of messages) {
    await inspectContent(message, inspect);
    yield message;
  }
}

/**
 * Shows everything in one message to `inspect`, as for responses. Use it for messages that come in another way, such as
 * push.
 *
 * @throws ConnectError FailedPrecondition with an UntrustedOutputError as its cause
 */
export async function inspectContent(response: ProtobufMessage, inspect: Inspect): Promise<void> {
  for (const inspected of contentOf(response)) {
    try {
      await inspect(inspected);
    } catch (thrown) {
      const refusal = toRefusal(thrown, inspected);
      throw new ConnectError(refusal.message, Code.FailedPrecondition, undefined, undefined, refusal);
    }
  }
}

function toRefusal(thrown: unknown, { kind }: Inspected): UntrustedOutputError {
  if (thrown instanceof UntrustedOutputError) {
    return thrown;
  }
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return new UntrustedOutputError(`the agent's ${kind} was refused: ${why}`, { cause: thrown });
}

function* contentOf(response: ProtobufMessage): Generator<Inspected, void> {
  if (isMessage(response, TaskSchema)) {
    yield* ofTask(response);
  } else if (isMessage(response, ListTasksResponseSchema)) {
    for (const task of response.tasks) yield* ofTask(task);
  } else if (isMessage(response, AgentCardSchema)) {
    yield { kind: "card", card: response };
  } else if (isMessage(response, SendMessageResponseSchema) || isMessage(response, StreamResponseSchema)) {
    yield* ofPayload(response.payload);
  }
}

type Payload = SendMessageResponse["payload"] | StreamResponse["payload"];

function* ofPayload(payload: Payload): Generator<Inspected, void> {
  switch (payload.case) {
    case "task":
      return yield* ofTask(payload.value);
    case "message":
      return yield* ofMessage(payload.value);
    case "statusUpdate":
      return yield* ofMessage(payload.value.status?.message);
    case "artifactUpdate":
      return yield* ofArtifact(payload.value.artifact);
    default:
      return;
  }
}

function* ofTask({ status, history, artifacts }: Task): Generator<Inspected, void> {
  yield* ofMessage(status?.message);
  for (const message of history) yield* ofMessage(message);
  for (const artifact of artifacts) yield* ofArtifact(artifact);
}

function* ofMessage(message: Message | undefined): Generator<Inspected, void> {
  yield* ofParts(message?.parts ?? [], "message");
}

function* ofArtifact(artifact: Artifact | undefined): Generator<Inspected, void> {
  if (artifact !== undefined) {
    yield { kind: "artifact", artifact };
    yield* ofParts(artifact.parts, "artifact");
  }
}

function* ofParts(parts: readonly Part[], of: "message" | "artifact"): Generator<Inspected, void> {
  for (const part of parts) yield { kind: "part", part, of };
}
