import { agentFetch, type FetchOptions } from "./agent-fetch.ts";
import { redirectLocation } from "./redirect-location.ts";

/** Redirects that are followed, one after the other. */
const maxRedirects = 3;

/**
 * The `fetch` for files that an agent names by URL: that of `agentFetch`, but never the caller's own, which may add
 * credentials that are for the agent alone.
 *
 * Up to three redirects are followed, each as if it had been named itself. With `untrusted`, from the first one on that leads
 * to another origin everything goes through the guard: whatever is on this machine may pass on what others say.
 *
 * It rejects with an Error where redirects lead nowhere or too far.
 *
 * @param cardUrl where the card is; undefined when the caller brought it
 * @throws Error when `untrusted` is asked for on a platform without a guard
 */
export function fileFetch(
  { platform, untrusted = false }: FetchOptions,
  cardUrl: string | URL | undefined,
): typeof globalThis.fetch {
  const options = { untrusted, ...(platform === undefined ? {} : { platform }) };
  const named = agentFetch(options, cardUrl);
  const foreign = agentFetch(options, undefined);
  return async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : input);
    let fetch = named;
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(url, { ...init, redirect: "manual" });
      if (response.type === "opaqueredirect") {
        return await followBlindly(named, url, init, untrusted);
      }
      const location = redirectLocation(response);
      if (location === undefined) {
        return response;
      }
      response.body?.cancel().catch(() => {}); // nobody wants it
      const next = URL.parse(location, url);
      if (next === null || !["http:", "https:"].includes(next.protocol)) {
        throw new Error("it redirects to what is no http or https URL");
      }
      if (redirects === maxRedirects) {
        throw new Error(`it redirects more than ${maxRedirects} times`);
      }
      if (next.origin !== url.origin) {
        fetch = foreign;
      }
      url = next;
    }
  };
}

/** Browsers do not say where a redirect leads. They follow it by rules of their own, and reach no address that a page may not. */
function followBlindly(
  fetch: typeof globalThis.fetch,
  url: URL,
  init: RequestInit | undefined,
  untrusted: boolean,
): Promise<Response> {
  if (untrusted) {
    throw new Error("it redirects, and nobody says where");
  }
  return fetch(url, { ...init, redirect: "follow" });
}
