import { describe, expect, it } from "vitest";
import { orAborted, untilAborted } from "./until-aborted.ts";

const never = new Promise<never>(() => {});

describe("waiting for what may never come", () => {
  it("gives what comes, and its failure", async () => {
    const { signal } = new AbortController();
    expect(await orAborted(signal, Promise.resolve(1))).toBe(1);
    await expect(orAborted(signal, Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("ends with the signal's reason, whether that comes before or while it waits", async () => {
    const controller = new AbortController();
    const waiting = orAborted(controller.signal, never);
    controller.abort("Ctrl-C");
    await expect(waiting).rejects.toBe("Ctrl-C");
    await expect(orAborted(controller.signal, never)).rejects.toBe("Ctrl-C");
    await expect(orAborted(controller.signal, Promise.resolve(1))).rejects.toBe("Ctrl-C");
  });

  it("closes what comes too late", async () => {
    const controller = new AbortController();
    const opened = Promise.withResolvers<AsyncDisposable>();
    const closed = Promise.withResolvers<void>();
    const waiting = untilAborted(controller.signal, opened.promise);
    controller.abort("Ctrl-C");
    await expect(waiting).rejects.toBe("Ctrl-C");
    opened.resolve({ [Symbol.asyncDispose]: async () => closed.resolve() });
    await closed.promise;
  });
});
