import type { CloseOptions } from "./port/listen-options.ts";

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

/** What is closed at each signal: Node warns when a process with many servers has a listener for each. */
const closers = new Map<NodeJS.Signals, Set<(signal: NodeJS.Signals) => void>>();

/** The hook of each target. */
const hooks = new WeakMap<Closable, ShutdownHook>();

/**
 * Closes `target` at the first signal. The process then ends by itself, unless something keeps it alive. In that case
 * it is ended with exit code 1 two seconds after `timeoutMs` (default 10 s). Another signal half a second later or more
 * has its ordinary effect and kills the process at once. A second hook for a target replaces the first, such as that of
 * `serve`.
 */
export function shutdownOnSignal(target: Closable, options: ShutdownOptions = {}): ShutdownHook {
  const { signals = ["SIGTERM", "SIGINT"], timeoutMs = 10_000 } = options;
  const { promise, resolve, reject } = Promise.withResolvers<NodeJS.Signals>();
  const unhook = (): void => {
    for (const signal of signals) stopListening(signal, onSignal);
  };
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(unhook, sameSignalMs).unref();
    setTimeout(() => process.exit(1), timeoutMs + exitSlackMs).unref();
    target.close({ ...options, timeoutMs }).then(() => resolve(signal), reject);
  };
  hooks.get(target)?.[Symbol.dispose]();
  const hook = { finished: promise, [Symbol.dispose]: unhook };
  hooks.set(target, hook);
  for (const signal of signals) startListening(signal, onSignal);
  return hook;
}

function startListening(signal: NodeJS.Signals, close: (signal: NodeJS.Signals) => void): void {
  const registered = closers.get(signal);
  if (registered === undefined) {
    closers.set(signal, new Set([close]));
    process.on(signal, closeAll);
  } else {
    registered.add(close);
  }
}

/** Without anything to close, the signal has its ordinary effect again. */
function stopListening(signal: NodeJS.Signals, close: (signal: NodeJS.Signals) => void): void {
  const registered = closers.get(signal);
  if (registered?.delete(close) === true && registered.size === 0) {
    closers.delete(signal);
    process.off(signal, closeAll);
  }
}

function closeAll(signal: NodeJS.Signals): void {
  for (const close of closers.get(signal) ?? []) close(signal);
}
