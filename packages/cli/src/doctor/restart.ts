import { spawn } from "node:child_process";
import { once } from "node:events";

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
