import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";

/** Fails every test of a file after which a promise was rejected that nobody waited for. */
export function watchRejections(): void {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  beforeAll(() => void process.on("unhandledRejection", note));
  afterAll(() => void process.off("unhandledRejection", note));
  // Begun before the test, so that it comes last: what the test has opened is closed by then.
  beforeEach(({ onTestFinished }) =>
    onTestFinished(async () => {
      await nextTurn();
      await nextTurn();
      expect(rejections.splice(0), "unhandled rejections").toEqual([]);
    }),
  );
}
