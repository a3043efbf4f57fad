let gate = Promise.withResolvers<void>();

/** Resolves when the gate is opened the next time. */
export function atGate(): Promise<void> {
  return gate.promise;
}

/** Lets everybody at the gate go on; whoever comes later waits. */
export function openGate(): void {
  gate.resolve();
  gate = Promise.withResolvers();
}
