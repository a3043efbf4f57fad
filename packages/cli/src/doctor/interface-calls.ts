import type { BindingTransport, OpenTransport } from "@a2a-connect/client/internal";
import { type A2AErrorReason, findA2AError } from "@a2a-connect/core";
import { versionHeader } from "@a2a-connect/core/internal";
import { A2AService, type AgentInterface } from "@a2a-connect/proto";
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import {
  type Client,
  ConnectError,
  createClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import type { CallHeaders } from "../agent/call-credentials.ts";
import { quote } from "./finding.ts";
import { readText } from "./http-client.ts";

/** The generated client of one interface. */
export type RpcClient = Client<typeof A2AService>;

/** What came of one call. */
export interface CallOutcome {
  /** What was answered; undefined when an error was. */
  readonly answer: unknown;
  readonly error: ConnectError | undefined;
  /** The error's name in the protocol. */
  readonly reason: A2AErrorReason | undefined;
  /** The HTTP response behind it, on wires where it can be seen. */
  readonly exchange: Exchange | undefined;
  readonly ms: number;
}

/** An HTTP response as it came. */
export interface Exchange {
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  /** Empty for streams, and on binary wires. */
  readonly body: string;
}

/** How a call presents itself. */
export interface CallSettings {
  /** `A2A-Version`; `null` leaves it out. Default: the interface's. */
  readonly version?: string | null;
  /** Without the user's credentials. Default false. */
  readonly anonymous?: boolean;
}

/** One interface of the card, to be called. */
export interface InterfaceCalls extends Disposable {
  readonly interface: AgentInterface;
  /** For people: `JSONRPC`, or the end of a binding's URI. */
  readonly label: string;
  /** Calls one operation. Never rejects but for the examination's signal. */
  call(
    run: (client: RpcClient, options: { signal: AbortSignal }) => Promise<unknown>,
    settings?: CallSettings,
  ): Promise<CallOutcome>;
}

/** Says who the user is. */
export type Authentication = Pick<CallHeaders, "interceptor" | "wrapFetch">;

/** What interfaces are opened with. */
export interface InterfaceCallsOptions {
  readonly transports: readonly BindingTransport[];
  readonly fetch: typeof globalThis.fetch;
  /** Puts the user's credentials into the calls of an interface. */
  readonly credentials: (served: AgentInterface) => Authentication;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Longest response, in bytes; what is longer is cut off, and then no answer any more. */
const maxResponseBytes = 4 * 1024 * 1024;

/** @returns undefined for a binding that this command cannot call @throws Error when the interface's URL makes no sense */
export function openInterface(
  served: AgentInterface,
  options: InterfaceCallsOptions,
): InterfaceCalls | undefined {
  const binding = options.transports.find((each) => each.binding === served.protocolBinding);
  if (binding === undefined) return undefined;
  const credentials = options.credentials(served);
  const state: CallState = { settings: {}, exchange: undefined };
  const opened = binding.open({
    url: served.url,
    fetch: recordingFetch(credentials.wrapFetch(options.fetch), state),
    interceptors: [present(served, credentials, state)],
    maxResponseBytes,
    connectTimeoutMs: options.timeoutMs,
  });
  return new OpenedInterface(served, opened, state, options);
}

/** What the one call in flight is told and leaves behind: calls of an interface are made one after the other. */
interface CallState {
  settings: CallSettings;
  exchange: Exchange | undefined;
}

class OpenedInterface implements InterfaceCalls {
  readonly interface: AgentInterface;
  readonly label: string;
  readonly #opened: OpenTransport;
  readonly #client: RpcClient;
  readonly #state: CallState;
  readonly #options: InterfaceCallsOptions;

  constructor(
    served: AgentInterface,
    opened: OpenTransport,
    state: CallState,
    options: InterfaceCallsOptions,
  ) {
    this.interface = served;
    this.label = labelOf(served);
    this.#opened = opened;
    this.#client = createClient(A2AService, withTenant(opened.transport, served.tenant));
    this.#state = state;
    this.#options = options;
  }

  async call(
    run: (client: RpcClient, options: { signal: AbortSignal }) => Promise<unknown>,
    settings: CallSettings = {},
  ): Promise<CallOutcome> {
    const { signal, timeoutMs } = this.#options;
    this.#state.settings = settings;
    this.#state.exchange = undefined;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const startedAt = performance.now();
    let answer: unknown;
    let error: ConnectError | undefined;
    try {
      answer = await run(this.#client, { signal: limit });
    } catch (thrown) {
      signal.throwIfAborted();
      error = ConnectError.from(thrown);
    }
    return {
      answer,
      error,
      reason: findA2AError(error)?.reason,
      exchange: this.#state.exchange,
      ms: Math.round(performance.now() - startedAt),
    };
  }

  [Symbol.dispose](): void {
    this.#opened.close();
  }
}

/** What an interface is called in findings; two of one binding differ by their version. */
export function labelOf({ protocolBinding, protocolVersion }: AgentInterface): string {
  const name = /^urn:a2a-connect:binding:([a-z-]+):v1$/.exec(protocolBinding)?.[1] ?? quote(protocolBinding);
  return protocolVersion === "1.0" ? name : `${name} ${quote(protocolVersion)}`;
}

/** Every request names the interface's tenant, if it has one (requirement P-1). */
function withTenant(transport: Transport, tenant: string): Transport {
  if (tenant === "") return transport;
  // The cast restates that every request of A2A has the field.
  const add = <I extends DescMessage>(input: MessageInitShape<I>) =>
    ({ ...input, tenant }) as MessageInitShape<I>;
  return {
    unary: (method, signal, timeoutMs, header, input, values) =>
      transport.unary(method, signal, timeoutMs, header, add(input), values),
    stream: (method, signal, timeoutMs, header, input, values) =>
      transport.stream(method, signal, timeoutMs, header, mapEach(input, add), values),
  };
}

async function* mapEach<T>(items: AsyncIterable<T>, map: (item: T) => T): AsyncGenerator<T> {
  for await (const item of items) yield map(item);
}

function present(
  { protocolVersion }: AgentInterface,
  { interceptor }: Authentication,
  state: CallState,
): Interceptor {
  return (next) => {
    const authenticated = interceptor(next);
    return (request) => {
      const { version = protocolVersion, anonymous = false } = state.settings;
      if (version === null) request.header.delete(versionHeader);
      else request.header.set(versionHeader, version);
      return anonymous ? next(request) : authenticated(request);
    };
  };
}

/** Reads unary responses whole, so that they can be looked at, and hands them on. Streams are left alone. */
function recordingFetch(fetch: typeof globalThis.fetch, state: CallState): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const contentType = response.headers.get("content-type") ?? "";
    const seen = { url: response.url, status: response.status, contentType };
    if (!/json|html|text\/plain/i.test(contentType) || response.body === null) {
      state.exchange = { ...seen, body: "" };
      return response;
    }
    const { text } = await readText(response, maxResponseBytes);
    state.exchange = { ...seen, body: text };
    const { status, statusText, headers } = response;
    return new Response(text, { status, statusText, headers });
  };
}
