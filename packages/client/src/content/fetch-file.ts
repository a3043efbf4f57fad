import { type ClientClock, systemClock } from "../clock.ts";
import { ContentTooLargeError, UnreachableError, UntrustedOutputError } from "../errors.ts";
import { SilenceWatch } from "../follow/silence-watch.ts";
import { untilAborted } from "../run/until-aborted.ts";

/** What fetching a file takes. */
export interface FetchServices {
  /** Fetches parts by URL; the guarded one when the agent is not trusted. Gets no credentials. Default the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Longest file that is fetched, in bytes. */
  readonly maxBytes: number;
  /** Silence of a file's host after which it is given up. Default 60 s. */
  readonly idleTimeoutMs?: number | undefined;
  /** Default the platform's. */
  readonly clock?: ClientClock | undefined;
  /** Ends what is being fetched. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The file behind a URL that an agent named, as it arrives.
 *
 * @throws UntrustedOutputError when the URL is no http or https URL, UnreachableError when the file cannot be had, is cut
 *   off, or falls silent for `idleTimeoutMs`, ContentTooLargeError (from the content) as soon as it is longer than
 *   `maxBytes`; the signal's reason when it is aborted
 */
export async function fetchFile(text: string, services: FetchServices): Promise<AsyncIterable<Uint8Array>> {
  const { fetch = globalThis.fetch } = services;
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new UntrustedOutputError("a part names a file that is not at an http or https URL");
  }
  const wait = new FileWait(url, services);
  try {
    const response = await wait.for(fetch(url, { signal: wait.signal }), "could not be fetched");
    if (!response.ok) {
      throw new UnreachableError(
        `${url.origin} answered with HTTP status ${response.status} instead of the file`,
      );
    }
    return limited(response, wait, services.maxBytes);
  } catch (error) {
    wait.end();
    throw error;
  }
}

async function* limited(
  response: Response,
  wait: FileWait,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void> {
  let length = 0;
  const reader = response.body?.getReader(); // not every browser can iterate over a stream
  try {
    while (reader !== undefined) {
      const { value } = await wait.for(reader.read(), "was cut off");
      if (value === undefined) {
        return;
      }
      length += value.byteLength;
      if (length > maxBytes) {
        throw new ContentTooLargeError(wait.what, maxBytes);
      }
      yield value;
    }
  } finally {
    wait.end();
    reader?.cancel().catch(() => {}); // it is closed already
  }
}

/** Waits for a host that may never answer: each wait ends when nothing is heard for too long, or the caller gives up. */
class FileWait {
  /** Begins a sentence. */
  readonly what: string;
  /** Ends the request. */
  readonly signal: AbortSignal;
  readonly #given: AbortSignal | undefined;
  readonly #limitMs: number;
  readonly #watch: SilenceWatch;
  readonly #over = new AbortController();

  constructor({ origin }: URL, { signal, clock = systemClock, idleTimeoutMs = 60_000 }: FetchServices) {
    signal?.throwIfAborted();
    this.what = `the file at ${origin}`;
    this.#given = signal;
    this.#limitMs = idleTimeoutMs;
    this.#watch = new SilenceWatch(clock, idleTimeoutMs);
    const signals = [this.#watch.signal, this.#over.signal];
    this.signal = AbortSignal.any(signal === undefined ? signals : [...signals, signal]);
  }

  /** @throws UnreachableError when it rejects, with `trouble` in its message, or takes too long; the given signal's reason */
  async for<T>(promise: Promise<T>, trouble: string): Promise<T> {
    this.#watch.heard();
    try {
      return await untilAborted(promise, this.signal);
    } catch (cause) {
      this.#given?.throwIfAborted();
      throw this.#watch.signal.aborted
        ? new UnreachableError(`${this.what} did not come: nothing was heard for ${this.#limitMs} ms`, {
            hint: "Try again later, or allow longer silence with idleTimeoutMs.",
            cause,
          })
        : new UnreachableError(`${this.what} ${trouble}`, { cause });
    } finally {
      this.#watch.pause(); // what the writer takes its time for is no silence
    }
  }

  /** To be called in any case; what still comes nobody wants. */
  end(): void {
    this.#watch.stop();
    this.#over.abort();
  }
}
