import { a2aError } from "@a2a-connect/core";
import type { Message } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { KeyedResult, KeyedTask, Owner, RequestKey } from "../store/task-store.ts";
import type { EngineContext } from "./engine-context.ts";
import type { Sent } from "./task-handle.ts";

/** How long a direct Message is kept for repeats of its request. */
const replyLifetimeMs = 86_400_000;

/** The owner of a request, and its key. */
export interface KeyedRequest {
  readonly owner: Owner;
  readonly key: RequestKey;
}

/**
 * Takes each request once, however often it comes (docs/idempotency.md). The store has the result of a request: a
 * task's key was written by the same commit that took the message. Memory has only the requests whose result is still
 * open.
 */
export class KeyedSends {
  readonly #context: Pick<EngineContext, "store" | "clock">;
  /** Whether the server took the first request of a key, for the time until that is known. */
  readonly #undecided = new Map<string, Promise<boolean>>();

  constructor(context: Pick<EngineContext, "store" | "clock">) {
    this.#context = context;
  }

  /**
   * Runs a request that is the first with its key. A repeat waits until the first was taken, and gets its result. When
   * the first failed before it was taken, the next one is the first.
   *
   * @param take takes the message in; the commit that does so has to carry the key
   * @param attach gives a repeat its share of the task that the first became part of
   * @throws ConnectError IDEMPOTENCY_CONFLICT when the key came with another request before
   */
  async send(
    request: KeyedRequest,
    take: () => Promise<Sent>,
    attach: (result: KeyedTask) => Promise<Sent>,
  ): Promise<Sent> {
    const { owner, key } = request;
    const name = JSON.stringify([owner.tenant, owner.principal, key.key]);
    for (;;) {
      const first = this.#undecided.get(name);
      if (first === undefined) {
        break;
      }
      const earlier = (await first) ? await this.#find(request) : undefined;
      if (earlier !== undefined) {
        return this.#repeat(request, earlier, attach);
      }
    }
    const decided = Promise.withResolvers<boolean>();
    this.#undecided.set(name, decided.promise);
    let taken = false;
    try {
      const sent = await this.#takeOnce(request, take, attach);
      taken = true;
      return sent;
    } finally {
      this.#undecided.delete(name);
      decided.resolve(taken);
    }
  }

  async #takeOnce(
    request: KeyedRequest,
    take: () => Promise<Sent>,
    attach: (result: KeyedTask) => Promise<Sent>,
  ): Promise<Sent> {
    const earlier = await this.#find(request);
    if (earlier !== undefined) {
      return this.#repeat(request, earlier, attach);
    }
    try {
      const sent = await take();
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
      return this.#repeat(request, other, attach);
    }
  }

  async #repeat(
    { owner, key }: KeyedRequest,
    earlier: KeyedResult,
    attach: (result: KeyedTask) => Promise<Sent>,
  ): Promise<Sent> {
    if (earlier.kind === "task") {
      return attach(earlier);
    }
    const message = await this.#context.store.findReply(owner, key.key);
    if (message === undefined) {
      throw new ConnectError("the answer to this request has just expired; send it again", Code.Aborted);
    }
    return { kind: "message", message };
  }

  /** A direct Message is durable before it is answered, too. @throws ConnectError Aborted when the key was taken meanwhile */
  async #keepReply({ owner, key }: KeyedRequest, message: Message): Promise<void> {
    const { store, clock } = this.#context;
    if (!(await store.putReply(owner, key, message, clock.now() + replyLifetimeMs))) {
      throw new ConnectError("the same request was answered elsewhere meanwhile", Code.Aborted);
    }
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

function isSameRequest(one: RequestKey, other: RequestKey): boolean {
  return (
    one.fingerprint.length === other.fingerprint.length &&
    one.fingerprint.every((byte, index) => byte === other.fingerprint[index])
  );
}
