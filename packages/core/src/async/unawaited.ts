/**
 * Calls code for whose result no code waits: a function of the operator's that takes records, or the clean-up of a stream. What it throws, or
 * rejects with, would end a process of Node; `onFailure` gets it instead.
 */
export function callUnawaited(call: () => unknown, onFailure: (error: unknown) => void = () => {}): void {
  try {
    const result = call();
    if (result !== undefined) Promise.resolve(result).catch(onFailure); // also of what only has a `then`
  } catch (error) {
    onFailure(error);
  }
}
