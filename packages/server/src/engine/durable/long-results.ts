import { nextSlice } from "@a2a-connect/bindings/server";

/** While so many of a caller's values wait, none of its steps begins: a value takes up to ten times the memory of what is stored of it. */
const maxWaiting = 8;

/** How many long results wait for their slices, by caller: slices are of all engines of a process. */
const waiting = new Map<string | undefined, number>();

/** Resolves in the slice in which a long result is stored: hundreds of tasks may have theirs at the same moment. */
export async function sliceForResult(share: string | undefined): Promise<void> {
  waiting.set(share, (waiting.get(share) ?? 0) + 1);
  await nextSlice(share);
  const others = (waiting.get(share) ?? 0) - 1;
  if (others > 0) waiting.set(share, others);
  else waiting.delete(share);
}

/** What a step waits for before it begins, while long results of its caller wait; undefined: nothing. */
export function roomForStep(share: string | undefined): Promise<void> | undefined {
  return isFull(share) ? untilRoom(share) : undefined;
}

async function untilRoom(share: string | undefined): Promise<void> {
  while (isFull(share)) await nextSlice(share);
}

function isFull(share: string | undefined): boolean {
  return (waiting.get(share) ?? 0) >= maxWaiting;
}
