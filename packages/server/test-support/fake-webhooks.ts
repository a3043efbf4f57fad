import type { PushFetch } from "../src/push/push-options.ts";

/** A request that a webhook got. */
export interface Received {
  readonly url: string;
  readonly method: string | undefined;
  readonly redirect: RequestRedirect | undefined;
  readonly headers: Headers;
  /** The value of `x-a2a-event-id`. */
  readonly eventId: number;
  readonly body: string;
  /** Aborts when the sender gives the request up. */
  readonly signal: AbortSignal;
}

/** A status, no answer at all until the sender gives up, a failure to connect, or what the test makes. */
export type Answer = number | "hang" | Error | (() => Promise<Response>);

/** Webhooks without sockets. Every URL is one, and answers 204 unless it is told otherwise. */
export interface FakeWebhooks {
  readonly fetch: PushFetch;
  readonly received: readonly Received[];
  /** Event ids that a webhook got, in order. */
  idsAt(url: string): readonly number[];
  /** Resolves when that many requests have arrived. */
  until(count: number): Promise<void>;
  /** What a webhook answers from now on. */
  answer(url: string, answer: Answer): void;
}

/** Makes webhooks that answer at once, without waiting for any clock. */
export function createFakeWebhooks(): FakeWebhooks {
  const received: Received[] = [];
  const answers = new Map<string, Answer>();
  const looks: (() => void)[] = [];
  return {
    received,
    idsAt: (url) => received.filter((each) => each.url === url).map(({ eventId }) => eventId),
    async until(count) {
      while (received.length < count) await new Promise<void>((resolve) => looks.push(resolve));
    },
    answer: (url, answer) => answers.set(url, answer),
    async fetch(url, { method, redirect, headers: init, body, signal }) {
      const isBody = body instanceof Uint8Array || body instanceof ReadableStream;
      if (!isBody || !(signal instanceof AbortSignal)) {
        throw new TypeError("a notification has bytes and a signal");
      }
      signal.throwIfAborted();
      const headers = new Headers(init);
      const text = await new Response(body as BodyInit).text(); // the types forbid shared memory, and there is none
      const eventId = Number(headers.get("x-a2a-event-id"));
      received.push({
        url,
        method,
        redirect,
        headers,
        eventId,
        body: text,
        signal,
      });
      for (const look of looks.splice(0)) look();
      const answer = answers.get(url) ?? 204;
      if (answer instanceof Error) throw answer;
      if (typeof answer === "number") return new Response(null, { status: answer });
      if (typeof answer === "function") return answer();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  };
}
