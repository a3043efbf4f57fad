import {
  formatTaskState,
  type MessageDetails,
  principalKey,
  readLifecycleReport,
  userMessage,
} from "@a2a-connect/core";
import { runtimeKey, stateOf, versionHeader } from "@a2a-connect/core/internal";
import {
  A2AService,
  type Message,
  type Part,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
} from "@a2a-connect/proto";
import {
  type AgentServer,
  type AgentServerOptions,
  createAgentServer,
  createMemoryTaskStore,
  type LogRecord,
  type TaskStore,
} from "@a2a-connect/server";
import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import {
  type Client,
  Code,
  ConnectError,
  createClient,
  createContextValues,
  createHandlerContext,
  type ServiceImplSpec,
  type Transport,
} from "@connectrpc/connect";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";

/** An agent's engine and operations in memory: without a wire or a socket, and with a clock that stands still. */
export interface EngineHarness {
  readonly server: AgentServer;
  readonly store: TaskStore;
  readonly clock: FakeClock;
  /** The records of the operator's log. */
  readonly log: readonly LogRecord[];
  /** The owner of the anonymous caller's tasks. */
  readonly client: Client<typeof A2AService>;
  /** The owner of a named caller's tasks. */
  clientOf(principal: string): Client<typeof A2AService>;
  /** An anonymous caller of this address: all of them own the same tasks, and each has its own turns and memory. */
  clientFrom(network: string): Client<typeof A2AService>;
}

/** Options that differ from a server's defaults. The clock is fake unless you give one. */
export type EngineHarnessOptions = Omit<AgentServerOptions, "clock" | "log"> & { readonly clock?: FakeClock };

/** Starts an agent in memory. Ids are `id-1`, `id-2`, … unless you give `randomId`. */
export async function createEngineHarness(options: EngineHarnessOptions): Promise<EngineHarness> {
  const { store = createMemoryTaskStore(), clock = createFakeClock() } = options;
  const log: LogRecord[] = [];
  let ids = 0;
  const server = createAgentServer({
    randomId: () => `id-${++ids}`,
    ...options,
    // The clock stands still unless a test moves it, so chunks would wait for each other for ever.
    limits: { chunkIntervalMs: 0, ...options.limits },
    store,
    clock,
    log: (record) => log.push(record),
  });
  await server.start();
  const connect = (principal?: string, network?: string) =>
    createClient(A2AService, createMemoryTransport(server.service, principal, network));
  return {
    server,
    store,
    clock,
    log,
    client: connect(),
    clientOf: (principal) => connect(principal),
    clientFrom: (network) => connect(undefined, network),
  };
}

/**
 * Calls the service without a wire: nothing is encoded, so that a test sees the same objects, and no time passes.
 *
 * @param principal the caller; undefined for the anonymous caller
 * @param network the caller's address; undefined: not known
 */
export function createMemoryTransport(
  service: ServiceImplSpec,
  principal: string | undefined,
  network?: string,
): Transport {
  function contextOf(
    method: Parameters<Transport["unary"]>[0] | Parameters<Transport["stream"]>[0],
    signal: AbortSignal | undefined,
    header: HeadersInit | undefined,
  ) {
    const requestHeader = new Headers(header);
    requestHeader.set(versionHeader, requestHeader.get(versionHeader) ?? "1.0");
    const contextValues = createContextValues();
    if (network !== undefined) contextValues.set(runtimeKey, { callerNetwork: network });
    if (principal !== undefined) contextValues.set(principalKey, { id: principal, anonymous: false });
    return createHandlerContext({
      service: A2AService,
      method,
      protocolName: "memory",
      requestMethod: "POST",
      url: "memory:",
      requestHeader,
      contextValues,
      ...(signal === undefined ? {} : { requestSignal: signal }),
    });
  }
  const head = () => ({ service: A2AService, header: new Headers(), trailer: new Headers() });
  return {
    async unary(method, signal, _timeoutMs, header, input) {
      const entry = service.methods[method.localName];
      if (entry?.kind !== "unary") throw unimplemented(method.name);
      const answer = await entry.impl(create(method.input, input), contextOf(method, signal, header));
      return {
        ...head(),
        stream: false,
        method,
        message: create<DescMessage>(method.output, answer) as MessageShape<typeof method.output>,
      }; // made from its descriptor
    },
    async stream(method, signal, _timeoutMs, header, inputs) {
      const entry = service.methods[method.localName];
      if (entry?.kind !== "server_streaming") throw unimplemented(method.name);
      for await (const input of inputs) {
        const answers = entry.impl(create(method.input, input), contextOf(method, signal, header));
        return {
          ...head(),
          stream: true,
          method,
          message: answers as AsyncIterable<MessageShape<typeof method.output>>,
        }; // complete messages, as the operations return them
      }
      throw new ConnectError("a call needs a request", Code.InvalidArgument);
    },
  };
}

function unimplemented(method: string): ConnectError {
  return new ConnectError(`${method} is not implemented`, Code.Unimplemented);
}

/** Reads a stream into a list that grows as events arrive. */
export interface StreamReader {
  readonly events: readonly StreamResponse[];
  /** Resolves when the stream has ended; rejects when it has failed. */
  readonly ended: Promise<void>;
  readonly open: boolean;
  /** Ends the call, like a client that disconnects. */
  hangUp(): void;
}

/** Opens a stream and reads it at once. `call` gets the signal that `hangUp` aborts. */
export function readStream(call: (signal: AbortSignal) => AsyncIterable<StreamResponse>): StreamReader {
  const events: StreamResponse[] = [];
  const controller = new AbortController();
  let open = true;
  const read = async () => {
    try {
      for await (const event of call(controller.signal)) events.push(event);
    } finally {
      open = false;
    }
  };
  const ended = read();
  ended.catch(() => {}); // a caller that awaits it gets the error
  return {
    events,
    ended,
    get open() {
      return open;
    },
    hangUp: () => controller.abort(),
  };
}

/** A user's message as a request contains it; a string is one text part. The id is "m" unless you give one. */
export function say(
  content: string | readonly Part[],
  details: Partial<MessageDetails> = {},
): { message: Message } {
  return { message: userMessage(content, { messageId: "m", ...details }) };
}

/** The task of an answer. @throws Error when it is a direct Message */
export function taskOf({ payload }: SendMessageResponse | StreamResponse): Task {
  if (payload.case !== "task") throw new Error(`a task was expected, and it is ${payload.case}`);
  return payload.value;
}

/** A word for each event: `task submitted`, `working`, `artifact a +` (an append), `completed`. */
export function wordsOf(events: readonly StreamResponse[]): readonly string[] {
  return events.map(({ payload }) => {
    switch (payload.case) {
      case "task":
        return `task ${formatTaskState(stateOf(payload.value))}`;
      case "statusUpdate":
        return formatTaskState(stateOf(payload.value));
      case "artifactUpdate":
        return `artifact ${payload.value.artifact?.artifactId}${payload.value.append ? " +" : ""}`;
      default:
        return payload.case ?? "nothing";
    }
  });
}

/** The machine-readable reason in a task's status message. */
export function reasonOf({ status }: Pick<Task, "status">): string | undefined {
  return readLifecycleReport(status?.message?.metadata).reason;
}
