import type { NetworkAnswer } from "./vector.ts";

/** A network that answers as a vector says, and remembers what it was asked. */
export class ScriptedNetwork {
  readonly asked: string[] = [];
  readonly #answers: Readonly<Record<string, NetworkAnswer>>;

  constructor(answers: Readonly<Record<string, NetworkAnswer>> = {}) {
    this.#answers = answers;
  }

  /** As the platform's fetch, redirects included, for GET. */
  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    return this.#answer(request.url, request.redirect);
  };

  #answer(url: string, redirect: RequestRedirect): Response {
    this.asked.push(url);
    const answer = this.#answers[url];
    if (answer === undefined) {
      throw new TypeError("nobody answers");
    }
    const location = answer.headers["location"];
    if (location !== undefined && redirect === "error") {
      throw new TypeError("unexpected redirect");
    }
    if (location !== undefined && redirect === "follow") {
      return this.#answer(new URL(location, url).href, redirect);
    }
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  }
}
