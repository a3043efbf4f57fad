import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { callUnawaited } from "./unawaited.ts";

const failure = new Error("the disk is full");

for (const [what, call] of [
  [
    "throws",
    () => {
      throw failure;
    },
  ],
  ["rejects with", () => Promise.reject(failure)],
  ["of another realm rejects with", () => runInNewContext("Promise.reject(failure)", { failure })],
  ["gives to its `then`", () => runInNewContext("({ then: (_, reject) => reject(failure) })", { failure })],
] as const) {
  it(`gives away what a function ${what}`, async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    callUnawaited(call, resolve);
    expect(await promise).toBe(failure);
    callUnawaited(call); // an error that nothing takes would fail the tests
  });
}
