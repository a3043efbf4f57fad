import { expect, it } from "vitest";
import { createSlices } from "./slices.ts";

/** Works for longer than a slice takes. */
function work(): void {
  for (const began = performance.now(); performance.now() - began < 6; );
}

it("gives a turn of the event loop one slice, however many callers have long work", async () => {
  let turn = 0;
  let over = false;
  const count = () => {
    turn++;
    if (!over) setImmediate(count);
  };
  count();
  const slices: number[] = [];
  const caller = async () => {
    const nextPiece = createSlices(new AbortController().signal);
    for (let piece = 0; piece < 4; piece++) {
      work();
      await nextPiece();
      slices.push(turn);
    }
  };
  await Promise.all([caller(), caller(), caller()]);
  over = true;
  expect(new Set(slices).size).toBe(12);
});
