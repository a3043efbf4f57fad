import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

/** How long to wait for other processes. */
export interface FileLockOptions {
  /** After that the call fails. Default 15 s. */
  readonly waitMs?: number;
  /** Milliseconds of a clock that is never set. Default `performance.now`. */
  readonly now?: () => number;
}

/** A lock that did not change for this long belongs to a process that was stopped: no process needs it for so long. */
const maxHeldMs = 10_000;

/**
 * Takes a lock that no other process can hold at the same time: a file that exists until it is disposed of. A process
 * may stop and leave its lock behind. Another process takes it over after it saw the file unchanged for 10 s, because a
 * clock may tell a wrong age of it.
 *
 * @param path of the lock, in a directory that exists
 * @throws Error when the lock could not be taken in time
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
    if (time - start > waitMs) throw new Error(`the lock ${path} is held by another process`);
    await wait(5 + Math.random() * 15); // so that processes do not retry at the same moment
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

/** Only a lock that is still ours: when we took too long, another process may hold it. */
async function release(path: string, holder: string): Promise<void> {
  const held = await readFile(path, "utf8").catch(() => undefined);
  if (held === holder) await rm(path, { force: true });
}

/** Removes the lock that the process `other` left behind. True when it is removed. */
async function takeAway(path: string, other: string): Promise<boolean> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    if ((await identify(aside)) === other) return true;
    await link(aside, path); // another process was quicker, and this is its lock: put it back
    return false;
  } catch {
    return false; // the file is gone, or held again
  } finally {
    await rm(aside, { force: true });
  }
}

/**
 * The lock's holder: the text in the file, and the time of its writing, since the text may not be written yet.
 * Undefined when the lock is free.
 */
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

/** Whether the system reports an error by this code. */
export function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === code;
}
