import { parseHttpUrl, untilAborted } from "@a2a-connect/core/internal";
import { SilenceWatch } from "../calls/silence-watch.ts";
import { type ClientClock, systemClock } from "../clock.ts";
import { ContentTooLargeError, UnreachableError, UntrustedOutputError } from "../errors.ts";

/** What is needed to fetch a file. */
export interface FetchServices {
  /**
   * Fetches parts by URL; the guarded one when the agent is not trusted. It sends no credentials. Default the global
   * one.
   */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Longest file, in bytes. */
  readonly maxBytes: number;
  /** Silence of a file's host after which the fetch fails. Default 60 s. */
  readonly idleTimeoutMs?: number | undefined;
  /** Default the platform's. */
  readonly clock?: ClientClock | undefined;
  /** Aborts the fetch. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The file behind a URL that an agent named, as it arrives.
 *
 * @throws UntrustedOutputError when the URL is no http or https URL, UnreachableError when the file cannot be fetched,
 *   is cut off, or its host is silent for `idleTimeoutMs`, ContentTooLargeError (from the content) as soon as it is
 *   longer than `maxBytes`; the signal's reason when it aborts
 */
export async function fetchFile(text: string, services: FetchServices): Promise<AsyncIterable<Uint8Array>> {
  const { fetch = globalThis.fetch } = services;
  const url = parseHttpUrl(text);
  if (url === undefined) {
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

/**
 * Waits for a host that may never answer: each wait ends when the host is silent for too long, or the caller aborts.
 */
class FileWait {
  /** Begins a sentence. */
  readonly what: string;
  /** Ends the request. */
  readonly signal: AbortSignal;
  readonly #given: AbortSignal | undefined;
  readonly #limitMs: number;
  readonly #watch: SilenceWatch;

  constructor({ origin }: URL, { signal, clock = systemClock, idleTimeoutMs = 60_000 }: FetchServices) {
    signal?.throwIfAborted();
    this.what = `the file at ${origin}`;
    this.#given = signal;
    this.#limitMs = idleTimeoutMs;
    this.#watch = new SilenceWatch(clock, idleTimeoutMs, signal);
    this.signal = this.#watch.signal;
  }

  /**
   * @throws UnreachableError when it rejects, with `trouble` in its message, or takes too long; the given signal's
   *   reason
   */
  async for<T>(promise: Promise<T>, trouble: string): Promise<T> {
    this.#watch.heard();
    try {
      return await untilAborted(promise, this.signal);
    } catch (cause) {
      this.#given?.throwIfAborted();
      throw this.#watch.isSilent
        ? new UnreachableError(`${this.what} did not come: its host was silent for ${this.#limitMs} ms`, {
            hint: "Try again later, or allow longer silence with idleTimeoutMs.",
            cause,
          })
        : new UnreachableError(`${this.what} ${trouble}`, { cause });
    } finally {
      this.#watch.pause(); // the time that the writer takes is not silence of the host
    }
  }

  /** Call it in any case; later bytes are not needed. */
  end(): void {
    this.#watch.stop();
  }
}
