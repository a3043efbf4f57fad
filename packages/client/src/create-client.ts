import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentClient } from "./agent-client.ts";
import type { Input, SendOptions } from "./call-options.ts";
import { withDrift } from "./card/card-drift.ts";
import { type ClientContext, cardOf, renewCard, signalOf } from "./client-context.ts";
import { readArtifacts } from "./content/artifact-reader.ts";
import { explained } from "./failure.ts";
import { createObservation } from "./follow/observation.ts";
import { ObservedStream } from "./follow/observed-stream.ts";
import { repeatableOperations } from "./operations/operations.ts";
import { resumeTask, runTask } from "./run/run-task.ts";
import { streamText } from "./run/stream-text.ts";
import { keyFor } from "./send/idempotency-key.ts";
import { checkInput, type SendAnswer, sendOnce } from "./send/send-once.ts";
import { createSendRequest } from "./send/send-request.ts";

/** The client of an agent; see AgentClient. */
export function createClient(context: ClientContext): AgentClient {
  const { cards, transport, rpc, settings } = context;
  const close = () => closeClient(context);
  return {
    get card() {
      return cardOf(context);
    },
    get cardWarnings() {
      return cards.current.resolved.warnings;
    },
    get interface() {
      return transport.current.interface;
    },
    rpc,
    run: (input, options = {}) => runTask(context, input, options),
    resume: (taskId, options = {}) => resumeTask(context, taskId, options),
    stream(input, options = {}) {
      const sending = { request: createSendRequest(input, options, settings.randomId), options };
      const { until = "settled" } = options;
      const observed = { sending, until, signal: signalOf(context, options) };
      return new ObservedStream(context, createObservation(context, options, observed));
    },
    streamText: (input, options = {}) => streamText(context, input, options),
    follow(taskId, options = {}) {
      const { until = "terminal" } = options;
      const observed = { taskId, until, signal: signalOf(context, options) };
      return new ObservedStream(context, createObservation(context, options, observed));
    },
    sendMessage: (input, options = {}) =>
      explained(async () => {
        const payload = await sendMessage(context, input, options);
        return { $typeName: "lf.a2a.v1.SendMessageResponse", payload };
      }),
    ...repeatableOperations(context),
    readArtifacts: (task) => readArtifacts(context, task),
    getExtendedCard: (options = {}) =>
      explained(() => context.extended.get(signalOf(context, options), options.headers)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function sendMessage(
  context: ClientContext,
  input: Input,
  options: SendOptions & { readonly returnImmediately?: boolean },
): Promise<SendAnswer> {
  const { cards, settings } = context;
  const request = createSendRequest(input, options, settings.randomId);
  const signal = signalOf(context, options);
  await renewCard(context, signal, request.message?.taskId || undefined);
  const timeoutMs =
    options.returnImmediately === true ? settings.requestTimeoutMs : settings.retry.giveUpAfterMs;
  return withDrift(cards, signal, async () => {
    checkInput(context, request, options);
    const sending = { headers: options.headers ?? {}, signal, key: keyFor(context, options), timeoutMs };
    return sendOnce(context, request, sending);
  });
}

async function closeClient({ closed, transport, options }: ClientContext): Promise<void> {
  closed.abort(new ConnectError("the client was closed", Code.Canceled));
  transport.close();
  await options.platform?.close?.();
}
