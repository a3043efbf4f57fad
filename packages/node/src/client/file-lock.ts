import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

/** How long others are waited for. */
export interface FileLockOptions {
  /** Until it is an error. Default 15 s. */
  readonly waitMs?: number;
  /** Milliseconds since some time, by a clock that is never set. Default `performance.now`. */
  readonly now?: () => number;
}

/** After that whoever holds a lock was stopped while he did: nobody needs it for as long. */
const maxHeldMs = 10_000;

/**
 * Holds a lock, which no other process does meanwhile that uses this: a file that exists until it is disposed of. One that was left
 * behind is taken over when we have seen it unchanged for 10 s: what clocks say of its age need not be true.
 *
 * @param path of the lock, in a directory that exists
 * @throws Error when it cannot be had
 */
export async function holdFileLock(
  path: string,
  { waitMs = 15_000, now = () => performance.now() }: FileLockOptions = {},
): Promise<AsyncDisposable> {
  const holder = randomUUID();
  const start = now();
  let other: string | undefined;
  let since = start;
  while (!(await tryHold(path, holder))) {
    const found = await identify(path);
    const time = now();
    if (found !== other) {
      other = found;
      since = time;
    }
    if (found !== undefined && time - since > maxHeldMs && (await takeAway(path, found))) continue;
    if (time - start > waitMs) throw new Error(`the lock ${path} is held by somebody else`);
    await wait(5 + Math.random() * 15); // not all at the same time again
  }
  return { [Symbol.asyncDispose]: () => release(path, holder) };
}

async function tryHold(path: string, holder: string): Promise<boolean> {
  try {
    await using file = await open(path, "wx", 0o600);
    await file.writeFile(holder);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** Only if it is still ours: when we took too long somebody else may have it. */
async function release(path: string, holder: string): Promise<void> {
  const held = await readFile(path, "utf8").catch(() => undefined);
  if (held === holder) await rm(path, { force: true });
}

/** Takes away the lock of `other`, who has left it behind. True when it is gone. */
async function takeAway(path: string, other: string): Promise<boolean> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    if ((await identify(aside)) === other) return true;
    await link(aside, path); // somebody was quicker, and this is his: give it back
    return false;
  } catch {
    return false; // it is gone, or held again
  } finally {
    await rm(aside, { force: true });
  }
}

/** Who holds it: his text, and when it was written, since he may not have written it yet. Undefined when nobody does. */
async function identify(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const { mtimeMs } = await file.stat();
    return `${mtimeMs} ${await file.readFile("utf8")}`;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === code;
}
