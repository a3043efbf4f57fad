import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { findA2AError } from "@a2a-connect/core";

/**
 * Runs a shell command to its end; what it starts in the background goes on. One that takes longer is stopped, with all
 * that it has started. @returns why it failed @throws the signal's reason when it is aborted
 */
export async function runShell(
  command: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  signal.throwIfAborted();
  // A group of its own, so that nothing of it is left behind when it has to be stopped.
  const child = spawn(command, { shell: true, detached: true, stdio: "ignore" });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const stop = (): void => {
    if (child.pid !== undefined) stopGroup(child.pid);
  };
  limit.addEventListener("abort", stop, { once: true });
  try {
    const [code, killedBy] = await once(child, "exit");
    if (limit.aborted) return `it did not end within ${timeoutMs} ms`;
    return code === 0 ? undefined : `it ended with ${code === null ? killedBy : `code ${code}`}`;
  } catch (error) {
    return `it could not be run: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    limit.removeEventListener("abort", stop);
    child.unref();
    signal.throwIfAborted();
  }
}

function stopGroup(pid: number): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/**
 * Asks until there is an answer: what `ask` gave, an error of the protocol, which will not change, or the last one when time was up.
 * @throws the signal's reason when it is aborted
 */
export async function untilAnswered<Answer>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ readonly answer: Answer } | { readonly error: unknown }> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, 2_000)) {
    try {
      return { answer: await ask(limit) };
    } catch (error) {
      signal.throwIfAborted();
      if (limit.aborted || !isTemporary(error)) return { error };
    }
    await sleep(waitMs, undefined, { signal: limit }).catch(() => signal.throwIfAborted());
  }
}

/** What the protocol has a name for is an answer, and will not change. */
function isTemporary(error: unknown): boolean {
  return findA2AError(error) === undefined;
}
