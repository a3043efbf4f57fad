export const watchInterrupts = (_: unknown): AbortSignal => new AbortController().signal;
export const interruptedExitCode = (_: AbortSignal): number => 130;
