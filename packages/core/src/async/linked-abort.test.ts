import { expect, it } from "vitest";
import { LinkedAbort } from "./linked-abort.ts";

it("aborts with the reason of the other signal, at once when that was aborted before", () => {
  const cause = new AbortController();
  const before = new LinkedAbort(cause.signal);
  expect(before.signal.aborted).toBe(false);
  cause.abort("reason");
  expect(before.signal.reason).toBe("reason");
  expect(new LinkedAbort(cause.signal).signal.reason).toBe("reason");
});

it("aborts by itself, and keeps its first reason", () => {
  const cause = new AbortController();
  const own = new LinkedAbort(cause.signal);
  own.abort("own");
  cause.abort("other");
  expect([own.signal.reason, new LinkedAbort(undefined).signal.aborted]).toEqual(["own", false]);
});

it("is aborted no more by the other signal once it is disposed of", () => {
  const cause = new AbortController();
  const own = new LinkedAbort(cause.signal);
  own[Symbol.dispose]();
  cause.abort("other");
  expect(own.signal.aborted).toBe(false);
});
