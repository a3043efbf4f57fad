/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number;
}

/** The generator mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    between(low, high) {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return low + (((mixed ^ (mixed >>> 14)) >>> 0) % (high - low + 1));
    },
  };
}
