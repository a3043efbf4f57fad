import { expect, it } from "vitest";
import { CallerQueue } from "./caller-queue.ts";

it("lets callers take turns, and each caller's own work keeps its order", () => {
  const queue = new CallerQueue<string>();
  for (const name of ["a1", "a2", "a3", "b1"]) queue.push(name.slice(0, 1), name);
  const taken = [queue.shift(), queue.shift()];
  queue.push("b", "b2");
  queue.push(undefined, "c1");
  while (!queue.isEmpty) taken.push(queue.shift());
  expect(taken).toEqual(["a1", "b1", "a2", "b2", "c1", "a3"]);
  expect(queue.shift()).toBeUndefined();
});

it("takes as long for each of very many as for each of a few", () => {
  const count = 1_000_000; // where moving all that is left takes minutes, which the test has not
  const queue = new CallerQueue<number>();
  for (let at = 0; at < count; at += 1) queue.push("alice", at);
  for (let at = 0; at < count; at += 1) {
    if (queue.shift() !== at) expect.fail(`the order is wrong at ${at}`);
  }
  expect(queue.isEmpty).toBe(true);
});
