import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SignedCard } from "../signed-card.ts";
import { takeTurn } from "./agent-turns.ts";
import type { CardMemory } from "./card-memory.ts";
import { createCardMemory } from "./card-memory.ts";
import { judgeTrust } from "./judge-trust.ts";

const key = "https://agent.example";
const never = (): Promise<never> => new Promise(() => {});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("takeTurn", () => {
  it("ends a turn after 15 s, and the next one begins", async () => {
    const memory = createCardMemory();
    const hung = takeTurn(memory, key, never);
    const refused = expect(hung).rejects.toThrow(
      `what is remembered of ${key} cannot be read: the memory does not answer`,
    );
    let turn: AbortSignal | undefined;
    const next = vi.fn(async (signal: AbortSignal) => {
      turn = signal;
      return "next";
    });
    const result = takeTurn(memory, key, next);
    await vi.advanceTimersByTimeAsync(14_999);
    expect(next).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await refused;
    expect(await result).toBe("next");
    await vi.advanceTimersByTimeAsync(15_000);
    expect(turn?.aborted).toBe(false); // its own timer has ended with it
  });

  it("counts a turn from when it begins", async () => {
    const memory = createCardMemory();
    const slow = () => new Promise((resolve) => setTimeout(resolve, 10_000));
    const turns = Promise.all([takeTurn(memory, key, slow), takeTurn(memory, key, slow)]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await turns).toEqual([undefined, undefined]);
  });

  it("lets whoever is aborted leave the row, and nobody goes before his turn for that", async () => {
    const memory = createCardMemory();
    const leave = new AbortController();
    const stop = new AbortController();
    const first = takeTurn(memory, key, never, stop.signal);
    const work = vi.fn(async () => "second");
    const second = takeTurn(memory, key, work, leave.signal);
    const next = vi.fn(async () => "third");
    const third = takeTurn(memory, key, next);
    leave.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    await vi.advanceTimersByTimeAsync(0);
    expect(next).not.toHaveBeenCalled();
    stop.abort(new Error("stopped"));
    await expect(first).rejects.toThrow("stopped");
    expect(await third).toBe("third");
    expect(work).not.toHaveBeenCalled();
  });

  it("does nothing for whoever was aborted before", async () => {
    const work = vi.fn(async () => {});
    const signal = AbortSignal.abort(new Error("gone"));
    await expect(takeTurn(createCardMemory(), key, work, signal)).rejects.toThrow("gone");
    expect(work).not.toHaveBeenCalled();
  });

  it("has nothing written by whoever's turn is over", async () => {
    const { promise: read, resolve: answer } = Promise.withResolvers<undefined>();
    const reads = vi.fn(() => read);
    const write = vi.fn(async () => true);
    const now = vi.fn(() => 0);
    const memory: CardMemory = { ...createCardMemory(), read: reads, write };
    const judged = judgeTrust({
      card: new SignedCard({}),
      url: key,
      thumbprints: ["k"],
      policy: { memory },
      now,
    });
    const refused = expect(judged).rejects.toThrow("the memory does not answer");
    await vi.waitFor(() => expect(reads).toHaveBeenCalled()); // its turn has begun
    await vi.advanceTimersByTimeAsync(15_000);
    await refused;
    answer(undefined);
    vi.useRealTimers();
    await vi.waitFor(() => expect(now).toHaveBeenCalled()); // it goes on
    await new Promise((resolve) => setImmediate(resolve));
    expect(write).not.toHaveBeenCalled();
  });
});
