import { isLoopbackHost } from "@a2a-connect/core/internal";
import type { ConnectOptions } from "../options.ts";

/** The options that decide which `fetch` reaches an agent. */
export type FetchOptions = Pick<ConnectOptions, "fetch" | "platform" | "untrusted">;

/**
 * The `fetch` for an agent's card and for all URLs in the card: the caller's, else the platform's, else the global one.
 *
 * With `untrusted` it is the platform's guard. A card on this machine may still name this machine.
 *
 * @param cardUrl where the card is; undefined when the caller brought it
 * @throws Error when `untrusted` is set on a platform without a guard, or with a `fetch` of the caller's, which the
 *   guard cannot control
 */
export function agentFetch(
  options: FetchOptions,
  cardUrl: string | URL | undefined,
): typeof globalThis.fetch {
  const { platform, untrusted = false } = options;
  // Looked up at each call, so that a test or a polyfill may replace it.
  const plain = options.fetch ?? platform?.fetch ?? ((input, init) => globalThis.fetch(input, init));
  if (!untrusted) {
    return plain;
  }
  if (options.fetch !== undefined) {
    throw new Error(
      "`untrusted: true` cannot be combined with a `fetch` of your own: the guard cannot control which addresses it reaches. Leave out one of the two, or give your `fetch` as `platform.guardedFetch` if it guards addresses itself.",
    );
  }
  const guarded = platform?.guardedFetch;
  if (guarded === undefined) {
    throw new Error(
      "`untrusted: true` needs a platform that can guard addresses: use connectAgent of @a2a-connect/node/client",
    );
  }
  return cardUrl !== undefined && isLoopbackHost(hostOf(cardUrl))
    ? (input, init) => (isLoopbackHost(hostOf(input)) ? plain : guarded)(input, init)
    : guarded;
}

function hostOf(input: RequestInfo | URL): string {
  return URL.parse(input instanceof Request ? input.url : input)?.hostname ?? "";
}
