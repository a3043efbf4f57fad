/** The middle of the values. @throws Error when there are none */
export function median(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.5);
}

/** A quantile of ascending values. @throws Error when there are none */
export function quantile(ascending: Float64Array, part: number): number {
  const value = ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))];
  if (value === undefined) {
    throw new Error("nothing was measured");
  }
  return value;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
