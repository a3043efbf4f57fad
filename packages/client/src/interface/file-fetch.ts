import { parseHttpUrl } from "@a2a-connect/core/internal";
import { redirectLocation } from "../card/fetch-card.ts";
import { agentFetch, type FetchOptions } from "./agent-fetch.ts";

/** How many redirects are followed. */
const maxRedirects = 3;

/**
 * The `fetch` for files that an agent names by URL: like `agentFetch`, but never the caller's own, which may add
 * credentials that are for the agent alone.
 *
 * It follows up to three redirects, and applies the same rules to each target. With `untrusted`, everything after the
 * first redirect to another origin goes through the guard, because a program on this machine may pass on what strangers
 * say.
 *
 * It rejects with an Error when a redirect has no target or there are too many.
 *
 * @param cardUrl where the card is; undefined when the caller brought it
 * @throws Error when `untrusted` is set on a platform without a guard
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
      response.body?.cancel().catch(() => {}); // the body is not needed
      const next = parseHttpUrl(location, url);
      if (next === undefined) {
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

/**
 * Browsers do not show the target of a redirect. They follow it by rules of their own, and reach no address that a page
 * may not.
 */
function followBlindly(
  fetch: typeof globalThis.fetch,
  url: URL,
  init: RequestInit | undefined,
  untrusted: boolean,
): Promise<Response> {
  if (untrusted) {
    throw new Error("it redirects without a target");
  }
  return fetch(url, { ...init, redirect: "follow" });
}
