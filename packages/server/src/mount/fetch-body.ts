import type { HttpBody } from "@a2a-connect/bindings";
import { type BodyTurn, type BodyTurns, shortBodyBytes } from "@a2a-connect/bindings/server";
import { a2aError } from "@a2a-connect/core";
import {
  bodyTooLarge,
  type Holding,
  readAtMost,
  SharedBudget,
  shareByLimits,
} from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";

/**
 * The memory of all request bodies, of mounts with the same limit, until messages are made of them; CAPACITY when it is used up. One
 * address has 7/8 of it at most. There is an eighth more for short bodies.
 */
export const findBodyBudget: (limits: { readonly maxTotalBodyBytes: number }) => SharedBudget = shareByLimits(
  ({ maxTotalBodyBytes: max }) => {
    const words = `all requests hold more than ${max} bytes of bodies; send it again later`;
    const refuse = (): Error => a2aError("CAPACITY", words, { maxBytes: String(max) });
    return new SharedBudget({ max, maxShare: 7 / 8, small: shortBodyBytes, refuse });
  },
);

/** What a body has of what all bodies share. */
export interface FetchBodyOptions {
  /** Of the budget. */
  readonly held: Holding;
  /** Aborts when its caller has gone. */
  readonly signal: AbortSignal;
  /** Gives a short body that has come whole its turn: thousands may end at the same moment. */
  readonly turnAfterShortBody: () => Promise<void> | undefined;
  /** Those in which messages are made of the others. */
  readonly messageTurns: BodyTurns;
}

/** The body of a request of the web standard. */
export class FetchBody implements HttpBody {
  readonly #request: Request;
  readonly #options: FetchBodyOptions;
  #messageTurn: BodyTurn | undefined;
  /** Leaves the line for it. */
  #leave: (() => void) | undefined;

  constructor(request: Request, options: FetchBodyOptions) {
    this.#request = request;
    this.#options = options;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return readBody(this.#request);
  }

  /** @throws ConnectError CAPACITY when there is no room for it */
  async bytes(maxBytes: number): Promise<Uint8Array> {
    const bytes = await readAtMost(this.#count(), maxBytes);
    if (bytes === undefined) throw bodyTooLarge(maxBytes);
    if (bytes.length <= shortBodyBytes) await this.#options.turnAfterShortBody();
    return bytes;
  }

  /** @throws ConnectError CAPACITY when there is no room for what was unpacked */
  async turnBeforeMessage(
    length: number,
    callerNetwork: string | undefined,
    unpackedBytes = 0,
  ): Promise<void> {
    const { held, signal, messageTurns } = this.#options;
    signal.throwIfAborted();
    held.add(unpackedBytes);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#leave = messageTurns.ask(callerNetwork, length, (granted) => {
      this.#messageTurn = granted;
      resolve();
    });
    const gone = (): void => {
      this.#leave?.();
      reject(signal.reason);
    };
    signal.addEventListener("abort", gone);
    await promise.finally(() => signal.removeEventListener("abort", gone));
  }

  release(): Promise<void> | undefined {
    this.#options.held.end();
    this.#leave?.();
    const turn = this.#messageTurn;
    this.#messageTurn = undefined;
    return turn?.leave();
  }

  async *#count(): AsyncGenerator<Uint8Array> {
    for await (const chunk of readBody(this.#request)) {
      this.#options.held.add(chunk.length);
      yield chunk;
    }
  }
}

async function* readBody(request: Request): AsyncGenerator<Uint8Array> {
  if (request.bodyUsed) {
    throw new Error(
      "the request's body was read before it came to the agent: mount the agent before what parses bodies",
    );
  }
  if (request.body === null) return;
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  try {
    for (;;) {
      const { done, value } = await readChunk(reader);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined); // does nothing when the body has ended
  }
}

async function readChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await reader.read();
  } catch (cause) {
    throw new ConnectError("the request body ended early", Code.Canceled, undefined, undefined, cause);
  }
}
