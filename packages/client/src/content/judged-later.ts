import { type ContextKey, createContextKey } from "@connectrpc/connect";

/** Set for a call whose caller judges the response itself: verifies it first, then shows it to `inspect`. */
export const judgedLaterKey: ContextKey<boolean> = createContextKey<boolean>(false, {
  description: "the caller verifies and inspects the response",
});
