import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

/** How long others are waited for. */
export interface FileLockOptions {
  /** Until it is an error. Default 15 s. */
  readonly waitMs?: number;
}

/** After that whoever holds a lock was stopped while he did: nobody needs it for as long. */
const maxHeldMs = 10_000;

/**
 * Holds a lock, which no other process does meanwhile that uses this: a file that exists until it is disposed of. One that was left
 * behind is taken over after 10 s.
 *
 * @param path of the lock, in a directory that exists
 * @throws Error when it cannot be had
 */
export async function holdFileLock(
  path: string,
  { waitMs = 15_000 }: FileLockOptions = {},
): Promise<AsyncDisposable> {
  const holder = randomUUID();
  const deadline = performance.now() + waitMs;
  while (!(await tryHold(path, holder))) {
    if (await takeAway(path)) continue;
    if (performance.now() > deadline) throw new Error(`the lock ${path} is held by somebody else`);
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

/** Takes away a lock that was left behind. True when it is gone. */
async function takeAway(path: string): Promise<boolean> {
  if (!(await isLeftBehind(path))) return false;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    if (await isLeftBehind(aside)) return true;
    await link(aside, path); // somebody was quicker, and this is his: give it back
    return false;
  } catch {
    return false; // it is gone, or held again
  } finally {
    await rm(aside, { force: true });
  }
}

async function isLeftBehind(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > maxHeldMs;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === code;
}
