import { describe, expect, it } from "vitest";
import { lateStream } from "./late-stream.ts";

async function* words(onReturn: () => void = () => {}): AsyncGenerator<string> {
  try {
    yield "one";
    yield "two";
  } finally {
    onReturn();
  }
}

describe("lateStream", () => {
  it("begins with the first `next`, and ends what it has begun once", async () => {
    const seen: string[] = [];
    const stream = lateStream(async (onEnd) => {
      seen.push("begun");
      onEnd(() => seen.push("ended"));
      return words();
    });
    expect(seen).toEqual([]);
    for await (const word of stream) seen.push(word);
    await stream.return?.();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(seen).toEqual(["begun", "one", "two", "ended"]);
  });

  it("that is left before it began never begins", async () => {
    const stream = lateStream(() => {
      throw new Error("it was begun");
    });
    await stream.return?.();
    expect((await stream.next()).done).toBe(true);
  });

  it("that is left while it begins leaves its source, too", async () => {
    const seen: string[] = [];
    const gate = Promise.withResolvers<void>();
    const stream = lateStream(async (onEnd) => {
      onEnd(() => seen.push("ended"));
      await gate.promise;
      return words(() => seen.push("returned"));
    });
    const next = stream.next();
    const left = stream.return?.();
    gate.resolve();
    expect(await next).toEqual({ done: false, value: "one" });
    await left;
    expect(seen).toEqual(["returned", "ended"]);
  });

  it("ends when it cannot begin", async () => {
    const seen: string[] = [];
    const stream = lateStream(async (onEnd) => {
      onEnd(() => seen.push("ended"));
      throw new Error("no room");
    });
    await expect(stream.next()).rejects.toThrow("no room");
    expect(seen).toEqual(["ended"]);
    expect((await stream.next()).done).toBe(true);
  });
});
