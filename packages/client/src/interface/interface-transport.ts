import type {
  DescMessage,
  DescMethodStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues, type Transport } from "@connectrpc/connect";
import { systemClock } from "../clock.ts";
import { NoInterfaceError } from "../errors.ts";
import type { ConnectOptions } from "../options.ts";
import type { OpenTransport } from "../platform.ts";
import { agentFetch } from "./agent-fetch.ts";
import { type Attempt, failureOf, isOutOfReach, NotCallable, shownReason } from "./attempts.ts";
import type { Candidate } from "./choose-interfaces.ts";
import { wasNeverSent } from "./never-sent.ts";
import { callHeaders, isRepeatable, withTenant } from "./outgoing-call.ts";
import { shownInterface } from "./shown-list.ts";

/** How to call the interfaces of a card. */
export interface InterfaceSettings
  extends Pick<
    ConnectOptions,
    | "clock"
    | "connectTimeoutMs"
    | "extensions"
    | "fetch"
    | "headers"
    | "interceptors"
    | "maxResponseBytes"
    | "onWarning"
    | "platform"
    | "untrusted"
  > {
  /** Where the card came from. `untrusted` judges this machine's own addresses by it. */
  readonly cardUrl?: string | undefined;
}

/** One transport over all interfaces of an agent that may be used. */
export interface InterfaceTransport {
  readonly transport: Transport;
  /** The interface in use: the first, then the one that answered last. */
  readonly current: Candidate;
  /** Ends all connections; running calls fail. */
  close(): void;
}

/**
 * A Connect transport that calls the first interface and, when that cannot be reached, the next. It then calls
 * `onWarning` and stays with the interface that answered.
 *
 * A call goes to another interface only when the agent cannot do the work twice. A call that may be repeated (all but
 * sends, and push configs without an id) goes on as long as the interface has never answered. All other calls, and all
 * later ones, go on only when no byte of them was sent (`wasNeverSent`). Time limits apply to all attempts together.
 *
 * Every request has the interface's version and tenant, and the settings' headers and extensions. The settings'
 * interceptors see each attempt with all of these.
 *
 * @param candidates best first
 * @throws NoInterfaceError when none of the interfaces has a URL that its wire can call
 */
export function openInterfaces(
  candidates: readonly Candidate[],
  settings: InterfaceSettings,
): InterfaceTransport {
  return new InterfaceSwitch(candidates, settings);
}

/**
 * The longest time that gRPC can tell a server in milliseconds, 27 hours. A caller that allows more has set no limit.
 */
const longestTimeoutMs = 99_999_999;

/** One call, for any interface. */
interface Call<I extends DescMessage> {
  readonly method: DescMethodUnary<I> | DescMethodStreaming<I>;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
  readonly header: HeadersInit | undefined;
  readonly message: MessageShape<I>;
}

/** The differences between interfaces. */
interface CallAttempt<I extends DescMessage> {
  readonly transport: Transport;
  readonly timeoutMs: number | undefined;
  readonly header: Headers;
  readonly message: MessageShape<I>;
}

class InterfaceSwitch implements InterfaceTransport, Transport {
  readonly #settings: InterfaceSettings;
  readonly #fetch: typeof globalThis.fetch;
  /** The interfaces that can be called, best first. */
  readonly #candidates: readonly Candidate[];
  readonly #open = new Map<Candidate, OpenTransport>();
  readonly #answered = new Set<Candidate>();
  #current: Candidate;
  #closed = false;

  constructor(candidates: readonly Candidate[], settings: InterfaceSettings) {
    this.#settings = settings;
    this.#fetch = agentFetch(settings, settings.cardUrl);
    this.#candidates = candidates;
    this.#current = this.#firstCallable();
  }

  get transport(): Transport {
    return this;
  }

  get current(): Candidate {
    return this.#current;
  }

  close(): void {
    this.#closed = true;
    for (const { close } of this.#open.values()) {
      close();
    }
    this.#open.clear();
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ) {
    const message = create(method.input, input);
    return await this.#call({ method, signal, timeoutMs, header, message }, (attempt) =>
      attempt.transport.unary(
        method,
        signal,
        attempt.timeoutMs,
        attempt.header,
        attempt.message,
        contextValues,
      ),
    );
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: AsyncIterable<MessageInitShape<I>>,
    contextValues?: ContextValues,
  ) {
    const message = await onlyMessage(method, input);
    return await this.#call({ method, signal, timeoutMs, header, message }, (attempt) =>
      attempt.transport.stream(
        method,
        signal,
        attempt.timeoutMs,
        attempt.header,
        once(attempt.message),
        contextValues,
      ),
    );
  }

  async #call<I extends DescMessage, T>(
    call: Call<I>,
    attempt: (attempt: CallAttempt<I>) => Promise<T>,
  ): Promise<T> {
    const { clock = systemClock } = this.#settings;
    const repeatable = isRepeatable(call.method, call.message);
    const began = clock.now();
    const failed: Attempt[] = [];
    for (const candidate of this.#inOrder()) {
      try {
        const result = await attempt(this.#prepare(call, candidate, clock.now() - began));
        this.#keep(candidate, failed);
        return result;
      } catch (error) {
        if (!isOutOfReach(error)) {
          if (call.signal?.aborted !== true && isAnswer(error)) this.#keep(candidate, failed);
          throw error;
        }
        failed.push({ candidate, error });
        const goesOn = wasNeverSent(error) || (repeatable && !this.#answered.has(candidate));
        const isOver = call.timeoutMs !== undefined && clock.now() - began >= call.timeoutMs;
        if (!goesOn || isOver || this.#closed || call.signal?.aborted === true) {
          break;
        }
      }
    }
    throw failureOf(failed);
  }

  #prepare<I extends DescMessage>(call: Call<I>, candidate: Candidate, elapsedMs: number): CallAttempt<I> {
    const { method, header, message, timeoutMs } = call;
    return {
      transport: this.#transportOf(candidate),
      timeoutMs: timeoutMs === undefined || timeoutMs > longestTimeoutMs ? undefined : timeoutMs - elapsedMs,
      header: callHeaders(candidate, this.#settings, header),
      message: withTenant(method.input, message, candidate.interface.tenant),
    };
  }

  #inOrder(): readonly Candidate[] {
    return [this.#current, ...this.#candidates.filter((each) => each !== this.#current)];
  }

  /** The interface has answered: calls go there from now on. */
  #keep(candidate: Candidate, failed: readonly Attempt[]): void {
    this.#answered.add(candidate);
    const [first] = failed;
    if (candidate !== this.#current && first !== undefined) {
      this.#current = candidate;
      this.#settings.onWarning?.(
        `${shownInterface(first.candidate.interface)} ${shownReason(first.error)}; ${shownInterface(candidate.interface)} is used instead.`,
      );
    }
  }

  /** @throws NotCallable when the wire cannot call the URL */
  #transportOf(candidate: Candidate): Transport {
    if (this.#closed) {
      throw new ConnectError("the client was closed", Code.Canceled);
    }
    const open = this.#open.get(candidate) ?? this.#openTransport(candidate);
    this.#open.set(candidate, open);
    return open.transport;
  }

  #openTransport({ binding, interface: { url } }: Candidate): OpenTransport {
    const { interceptors = [], maxResponseBytes, connectTimeoutMs } = this.#settings;
    try {
      return binding.open({
        url,
        fetch: this.#fetch,
        interceptors,
        maxResponseBytes: maxResponseBytes ?? 64 * 1024 * 1024,
        connectTimeoutMs: connectTimeoutMs ?? 10_000,
      });
    } catch (cause) {
      throw new NotCallable(cause instanceof Error ? cause.message : String(cause), { cause });
    }
  }

  /** To open a transport connects to nothing: it only tells whether the URL is valid. */
  #firstCallable(): Candidate {
    const failed: Attempt[] = [];
    for (const candidate of this.#candidates) {
      try {
        this.#transportOf(candidate);
        return candidate;
      } catch (error) {
        failed.push({ candidate, error });
      }
    }
    const reasons = failed.map(
      ({ candidate, error }) => `${shownInterface(candidate.interface)} ${shownReason(error)}`,
    );
    throw new NoInterfaceError(
      `No interface of the card can be called: ${reasons.join("; ")}.`,
      this.#candidates.map((each) => each.interface),
      { hint: "Tell the operator of the agent that its card names invalid addresses." },
    );
  }
}

/** Whether an error came from a server that was reached; for a time limit that is not known. */
function isAnswer(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code !== Code.Canceled && code !== Code.DeadlineExceeded && !wasNeverSent(error);
}

/** The one request of a server-streaming call, so that it can be sent to another interface once more. */
async function onlyMessage<I extends DescMessage>(
  method: DescMethodStreaming<I>,
  input: AsyncIterable<MessageInitShape<I>>,
): Promise<MessageShape<I>> {
  if (method.methodKind === "server_streaming") {
    for await (const message of input) {
      return create(method.input, message);
    }
  }
  throw new ConnectError(`${method.name} cannot be called over this transport`, Code.Unimplemented);
}

async function* once<T>(value: T): AsyncGenerator<T, void> {
  yield value;
}
