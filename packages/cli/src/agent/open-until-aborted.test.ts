import { describe, expect, it } from "vitest";
import { openUntilAborted } from "./open-agent.ts";

const never = new Promise<never>(() => {});

describe("opening what may never open", () => {
  it("gives what comes, and its failure", async () => {
    const { signal } = new AbortController();
    const opened: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };
    expect(await openUntilAborted(signal, Promise.resolve(opened))).toBe(opened);
    await expect(openUntilAborted(signal, Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("ends with the signal's reason, whether that comes before or while it waits", async () => {
    const controller = new AbortController();
    const waiting = openUntilAborted(controller.signal, never);
    controller.abort("Ctrl-C");
    await expect(waiting).rejects.toBe("Ctrl-C");
    await expect(openUntilAborted(controller.signal, never)).rejects.toBe("Ctrl-C");
    await expect(openUntilAborted(controller.signal, Promise.reject(new Error("no")))).rejects.toBe("Ctrl-C");
  });

  it("closes what comes too late", async () => {
    const controller = new AbortController();
    const opened = Promise.withResolvers<AsyncDisposable>();
    const closed = Promise.withResolvers<void>();
    const waiting = openUntilAborted(controller.signal, opened.promise);
    controller.abort("Ctrl-C");
    await expect(waiting).rejects.toBe("Ctrl-C");
    opened.resolve({ [Symbol.asyncDispose]: async () => closed.resolve() });
    await closed.promise;
  });
});
