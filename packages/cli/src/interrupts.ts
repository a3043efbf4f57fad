/** Exit codes of a command that was interrupted: 128 and the number of the signal, as shells have it. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** A terminal, npm and a watcher may each send the same signal: within this time several are one. */
const sameSignalMs = 500;

/** What does not watch for an interruption may go on for this long. */
const graceMs = 8_000;

/** Why a command is interrupted: an AbortError, as it is wherever a signal is aborted, with the exit code it leads to. */
class Interruption extends DOMException {
  readonly exitCode: number;
  readonly #exit: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(exitCode: number, exit: () => void) {
    super("interrupted", "AbortError");
    this.exitCode = exitCode;
    this.#exit = exit;
    this.endWithin(graceMs);
  }

  /** Ends the process after that time. A later call replaces an earlier one. */
  endWithin(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#exit, ms).unref();
  }
}

/** Lets a command that is interrupted go on for so long: its work knows how to stop, and is told to. */
export function allowTimeToStop({ reason }: AbortSignal, ms: number): void {
  if (reason instanceof Interruption) reason.endWithin(ms);
}

/** The exit code of a command that this signal has interrupted. */
export function interruptedExitCode({ reason }: AbortSignal): number {
  return reason instanceof Interruption ? reason.exitCode : exitCodes.SIGINT;
}

export interface InterruptedProcess {
  on(signal: keyof typeof exitCodes, listener: () => void): unknown;
  exit(code: number): unknown;
}

/**
 * Aborted by the first SIGINT or SIGTERM. The second one ends the process at once; without one it is ended after 8 seconds
 * (`allowTimeToStop`), because a supervisor sends only one, and some work, such as a system call, cannot be told to stop.
 */
export function watchInterrupts(process: InterruptedProcess): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const code = exitCodes[signal];
    process.on(signal, () => {
      if (!controller.signal.aborted) {
        firstAt = Date.now();
        controller.abort(new Interruption(code, () => process.exit(code)));
      } else if (Date.now() - firstAt >= sameSignalMs) {
        process.exit(code);
      }
    });
  }
  return controller.signal;
}
