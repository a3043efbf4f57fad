import type { CloseOptions } from "./listen-options.ts";

/** When and how a process stops serving. */
export interface ShutdownOptions extends CloseOptions {
  /** Default SIGTERM and SIGINT. */
  readonly signals?: readonly NodeJS.Signals[];
}

/** An object that can be closed in an orderly way, such as a `Listener`. */
export interface Closable {
  close(options: CloseOptions): Promise<void>;
}

/** A process that waits for its signal. */
export interface ShutdownHook extends Disposable {
  /** Resolves with the signal once `close` has finished; rejects when it failed. Never settles without a signal. */
  readonly finished: Promise<NodeJS.Signals>;
}

/** How long a process may take after `timeoutMs`, for instance to close a store, before it is forced to end. */
const exitSlackMs = 2_000;

/** A terminal, npm and a launcher may each send the same signal. Within this time several signals count as one. */
const sameSignalMs = 500;

/**
 * Closes `target` at the first signal. The process then ends by itself, unless something keeps it alive. In that case
 * it is ended with exit code 1 two seconds after `timeoutMs` (default 10 s). Another signal half a second later or more
 * has its ordinary effect and kills the process at once.
 */
export function shutdownOnSignal(target: Closable, options: ShutdownOptions = {}): ShutdownHook {
  const { signals = ["SIGTERM", "SIGINT"], timeoutMs = 10_000 } = options;
  const { promise, resolve, reject } = Promise.withResolvers<NodeJS.Signals>();
  const unhook = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(unhook, sameSignalMs).unref();
    setTimeout(() => process.exit(1), timeoutMs + exitSlackMs).unref();
    target.close({ ...options, timeoutMs }).then(() => resolve(signal), reject);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return { finished: promise, [Symbol.dispose]: unhook };
}
