import { expect } from "vitest";

/** What a call is rejected with. */
export function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.unreachable("the call should have failed"),
    (error: unknown) => error,
  );
}
