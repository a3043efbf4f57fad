import type { DescMessage, DescMethodStreaming, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { systemClock } from "../clock.ts";
import { NoInterfaceError } from "../errors.ts";
import type { OpenTransport } from "../platform.ts";
import { agentFetch } from "./agent-fetch.ts";
import { type Attempt, failureOf, isOutOfReach, NotCallable, shownReason } from "./attempts.ts";
import { callAuthenticated, queryFetch } from "./authenticated-call.ts";
import type { Candidate } from "./choose-interfaces.ts";
import { shownInterface } from "./choose-interfaces.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { wasNeverSent } from "./never-sent.ts";
import { callHeaders, isRepeatable, withTenant } from "./outgoing-call.ts";
import type { UsedCard } from "./used-card.ts";

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

/**
 * The interfaces of one card. A call goes to the first one and, when that cannot be reached, to the next; that one is
 * then in use, and `onWarning` is told.
 *
 * A call goes to another interface only when the agent cannot do the work twice. A call that may be repeated (all but
 * sends, and push configs without an id) goes on as long as the interface has never answered. All other calls, and all
 * later ones, go on only when no byte of them was sent (`wasNeverSent`). Time limits apply to all attempts together.
 *
 * An interface that has failed several times in a row is left alone for a while, as long as there is another one. Only
 * calls without a response count as failures; a stream that breaks later does not. Only a call that may be repeated tries
 * the interface first again.
 *
 * Every request has the interface's version and tenant, and the settings' headers and extensions. The settings'
 * interceptors see each attempt with all of these.
 */
export class CardInterfaces {
  readonly card: UsedCard;
  readonly #fetch: typeof globalThis.fetch;
  readonly #open = new Map<Candidate, OpenTransport>();
  readonly #answered = new Set<Candidate>();
  readonly #breakers = new Map<Candidate, CircuitBreaker>();
  #current: Candidate;
  /** The interface that was in use before, until it had failed too often. */
  #left: Candidate | undefined;
  #closed = false;

  /** @throws NoInterfaceError when none of the interfaces has a URL that its wire can call */
  constructor(card: UsedCard) {
    this.card = card;
    this.#fetch = agentFetch(card.settings, card.resolved.url);
    this.#current = this.#firstCallable();
  }

  /** The interface in use. */
  get current(): Candidate {
    return this.#current;
  }

  /** Ends all connections; running calls fail. */
  close(): void {
    this.#closed = true;
    for (const { close } of this.#open.values()) {
      close();
    }
    this.#open.clear();
  }

  /** Makes a call over the first interface that answers. @throws the error of the call, or one that names all interfaces */
  async call<I extends DescMessage, T>(
    call: Call<I>,
    attempt: (attempt: CallAttempt<I>) => Promise<T>,
  ): Promise<T> {
    const { clock = systemClock } = this.card.settings;
    const repeatable = isRepeatable(call.method, call.message);
    const began = clock.now();
    const failed: Attempt[] = [];
    for (const candidate of this.#inOrder(began, repeatable)) {
      const breaker = this.#breakerOf(candidate);
      breaker.begin(clock.now());
      try {
        const prepare = () => this.#prepare(call, candidate, clock.now() - began);
        const { auth } = this.card.settings;
        const result =
          auth === undefined
            ? await attempt(prepare())
            : await callAuthenticated(auth, this.card, candidate, call.signal, (headers) => {
                const prepared = prepare();
                for (const [name, value] of Object.entries(headers)) prepared.header.set(name, value);
                return attempt(prepared);
              });
        this.#keep(candidate, failed);
        return result;
      } catch (error) {
        const hasLeft = call.signal?.aborted === true;
        if (!isOutOfReach(error)) {
          if (isAnswer(error)) {
            if (!hasLeft) this.#keep(candidate, failed);
          } else if (!hasLeft) breaker.failed(clock.now());
          throw error;
        }
        breaker.failed(clock.now());
        failed.push({ candidate, error });
        const goesOn = wasNeverSent(error) || (repeatable && !this.#answered.has(candidate));
        const isOver = call.timeoutMs !== undefined && clock.now() - began >= call.timeoutMs;
        if (!goesOn || isOver || this.#closed || hasLeft) {
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
      header: callHeaders(candidate, this.card.settings, header),
      message: withTenant(method.input, message, candidate.interface.tenant),
    };
  }

  /** The one in use first, or the one before it that may be there again; last those that have failed too often. */
  #inOrder(nowMs: number, mayTry: boolean): readonly Candidate[] {
    const first = [...(this.#left === undefined || !mayTry ? [] : [this.#left]), this.#current];
    const order = [...new Set([...first, ...this.card.candidates])];
    const permitted = new Set(order.filter((each) => this.#breakerOf(each).permits(nowMs)));
    return [...permitted, ...order.filter((each) => !permitted.has(each))];
  }

  #breakerOf(candidate: Candidate): CircuitBreaker {
    const breaker = this.#breakers.get(candidate) ?? new CircuitBreaker();
    this.#breakers.set(candidate, breaker);
    return breaker;
  }

  /** The interface has answered: calls go there from now on. */
  #keep(candidate: Candidate, failed: readonly Attempt[]): void {
    this.#answered.add(candidate);
    this.#breakerOf(candidate).answered();
    const before = this.#current;
    if (candidate === before) {
      return;
    }
    const [first] = failed;
    const left = shownInterface((first?.candidate ?? before).interface);
    const now = shownInterface(candidate.interface);
    const isBack = first === undefined && candidate === this.#left;
    const reason = first === undefined ? "has failed several times in a row" : shownReason(first.error);
    this.#left = first === undefined && !isBack ? before : undefined;
    this.#current = candidate;
    this.card.settings.onWarning?.(
      isBack
        ? `${now} answers again and is used instead of ${left}.`
        : `${left} ${reason}; ${now} is used instead.`,
    );
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
    const { auth, interceptors = [], maxResponseBytes, connectTimeoutMs } = this.card.settings;
    try {
      return binding.open({
        url,
        fetch: auth === undefined ? this.#fetch : queryFetch(this.#fetch, this.card.resolved.card),
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
    for (const candidate of this.card.candidates) {
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
      this.card.candidates.map((each) => each.interface),
      { hint: "Tell the operator of the agent that its card names invalid addresses." },
    );
  }
}

/** Whether an error came from a server that was reached; for a time limit that is not known. */
function isAnswer(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code !== Code.Canceled && code !== Code.DeadlineExceeded && !wasNeverSent(error);
}
