import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Full garbage collections, until unreachable objects are gone, which takes two or three. @returns whether they are */
export async function collectGarbage(
  isGone: () => boolean | Promise<boolean>,
  mostRounds = 20,
): Promise<boolean> {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void; // what the flag brings
  for (let rounds = 0; rounds < mostRounds; rounds += 1) {
    await nextTurn(); // until then what a WeakRef was made of stays
    gc();
    if (await isGone()) return true;
  }
  return false;
}

/** The heap that is taken by what this makes, in bytes. */
export function heapOf(make: () => unknown): number {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void; // what the flag brings
  for (let rounds = 0; rounds < 3; rounds += 1) gc();
  const before = process.memoryUsage().heapUsed;
  const made = [make()];
  gc();
  const bytes = process.memoryUsage().heapUsed - before;
  return made.length === 1 ? bytes : 0; // it lives until here
}
