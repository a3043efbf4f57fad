let count = 0;

/** Executors that have come to where they wait for long, since this process began. */
export function arrivals(): number {
  return count;
}

/** One more has come there. */
export function arrive(): void {
  count++;
}
