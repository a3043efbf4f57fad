import { nextSlice } from "@a2a-connect/bindings/server";
import { a2aError } from "@a2a-connect/core";
import { type Holding, type Reader, untilAborted } from "@a2a-connect/core/internal";
import type { Message } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { KeyedResult, KeyedTask, Owner, RequestKey } from "../store/task-store.ts";
import { alwaysStoredBytes } from "./capacity/stored-bytes.ts";
import type { EngineContext } from "./engine-context.ts";
import { weighMessage } from "./memory-weight.ts";
import type { Sent } from "./task-handle.ts";

/** How long a direct Message is kept for repeats of its request. */
const replyLifetimeMs = 86_400_000;

/** The owner of a request, its key, and what is done with it. Its message counts until `send` has ended (`Sends.send`). */
export interface KeyedRequest {
  readonly owner: Owner;
  readonly key: RequestKey;
  /** For which call. */
  readonly caller: Reader;
  /** Takes the message in; the commit that does so has to carry the key. */
  readonly take: () => Promise<Sent>;
  /** Gives a repeat its share of the task that the first became part of. */
  readonly repeat: (result: KeyedTask) => Promise<Sent>;
  /** Counts the call of a repeat that waits for the first: it is no follower. @throws ConnectError CAPACITY */
  readonly hold: () => Holding;
}

/** A request that waits for the first with its key. */
interface WaitingRepeat {
  readonly share: string | undefined;
  /** @param isFirst whether it is the first now, because that has failed */
  readonly go: (isFirst: boolean) => void;
}

type KeyedContext = Pick<
  EngineContext,
  "clock" | "log" | "nameOwner" | "reads" | "store" | "stored" | "wakes"
>;

/**
 * Takes each request once, however often it comes (docs/idempotency.md). The store has the result of a request: a
 * task's key was written by the same commit that took the message. Memory has only the requests whose result is still
 * open.
 */
export class KeyedSends {
  readonly #context: KeyedContext;
  /** The keys whose first request is not decided, and the repeats that wait for it, oldest first. */
  readonly #undecided = new Map<string, Set<WaitingRepeat>>();

  constructor(context: KeyedContext) {
    this.#context = context;
  }

  /**
   * Runs a request that is the first with its key. A repeat waits until the first was taken, and gets its result. When
   * the first failed before it was taken, the next one is the first.
   *
   * @throws ConnectError IDEMPOTENCY_CONFLICT when the key came with another request before; CAPACITY when too much waits; why the
   *   signal of a repeat that waited aborted
   */
  async send(request: KeyedRequest): Promise<Sent> {
    const { owner, key } = request;
    const name = JSON.stringify([owner.tenant, owner.principal, key.key]);
    const repeats = this.#undecided.get(name);
    if (repeats === undefined) {
      this.#undecided.set(name, new Set());
    } else {
      const waiting = request.hold();
      const isFirst = await isNext(repeats, request.caller).finally(() => waiting.end());
      if (!isFirst) {
        const earlier = await this.#find(request);
        return earlier === undefined ? this.send(request) : this.#repeat(request, earlier);
      }
    }
    let taken = false;
    try {
      const sent = await this.#takeOnce(request);
      taken = true;
      return sent;
    } finally {
      this.#decide(name, taken);
    }
  }

  /** Thousands may wait: when the first has failed, one of them is next and all others wait on. */
  #decide(name: string, taken: boolean): void {
    const { calls: wakes } = this.#context.wakes;
    const repeats = this.#undecided.get(name) ?? new Set();
    const [next] = taken ? [] : repeats;
    if (next !== undefined) {
      repeats.delete(next);
      wakes.wake([() => next.go(true)], next.share);
      return;
    }
    this.#undecided.delete(name);
    for (const { share, go } of repeats) wakes.wake([() => go(false)], share);
  }

  async #takeOnce(request: KeyedRequest): Promise<Sent> {
    const earlier = await this.#find(request);
    if (earlier !== undefined) {
      return this.#repeat(request, earlier);
    }
    try {
      const sent = await request.take();
      if (sent.kind === "message") {
        await this.#keepReply(request, sent.message);
      }
      return sent;
    } catch (error) {
      // Another server may have taken the same request first, or the commit was written and its confirmation was lost.
      const other = await this.#find(request);
      if (other === undefined) {
        throw error;
      }
      return this.#repeat(request, other);
    }
  }

  async #repeat({ owner, key, caller, repeat }: KeyedRequest, earlier: KeyedResult): Promise<Sent> {
    if (earlier.kind === "task") {
      return repeat(earlier);
    }
    const { reads, store } = this.#context;
    const message = await reads.tasks.short.run(caller, async () => {
      await nextSlice(caller.share, "read"); // to decode a large Message takes long, and the answer counts only when it is there
      return await store.findReply(owner, key.key);
    });
    if (message === undefined) {
      throw new ConnectError("the answer to this request has just expired; send it again", Code.Aborted);
    }
    return { kind: "message", message };
  }

  /** A direct Message is durable before it is answered, too. @throws ConnectError Aborted when the key was taken meanwhile */
  async #keepReply({ owner, key, caller }: KeyedRequest, message: Message): Promise<void> {
    const { store, clock, stored } = this.#context;
    const { share } = caller;
    const bytes = weighMessage(message);
    if (bytes > alwaysStoredBytes) stored.assertRoom(share, this.#context);
    const expiresAt = clock.now() + replyLifetimeMs;
    if (!(await store.putReply(owner, key, message, expiresAt, share))) {
      throw new ConnectError("the same request was answered elsewhere meanwhile", Code.Aborted);
    }
    stored.count(share, bytes, this.#context);
  }

  async #find({ owner, key }: KeyedRequest): Promise<KeyedResult | undefined> {
    const stored = await this.#context.store.findKey(owner, key.key);
    if (stored !== undefined && !isSameRequest(stored, key)) {
      throw a2aError(
        "IDEMPOTENCY_CONFLICT",
        "this idempotency key came with another request before: repeat that one, or take a new key",
      );
    }
    return stored?.result;
  }
}

/**
 * Waits until the first request is decided. @returns whether this one is the first now; then it does what the first does, also when its
 * caller goes @throws the reason of the caller's signal
 */
async function isNext(repeats: Set<WaitingRepeat>, { share, signal }: Reader): Promise<boolean> {
  const { promise, resolve: go } = Promise.withResolvers<boolean>();
  const one: WaitingRepeat = { share, go };
  repeats.add(one);
  try {
    return await untilAborted(promise, signal?.());
  } catch (gone) {
    if (repeats.delete(one)) throw gone;
    return promise;
  }
}

function isSameRequest(one: RequestKey, other: RequestKey): boolean {
  return (
    one.fingerprint.length === other.fingerprint.length &&
    one.fingerprint.every((byte, index) => byte === other.fingerprint[index])
  );
}
