const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration as it is typed: `500ms`, `2s`, `1.5m`, `1h`, or plain seconds. Undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^(?<amount>\d+(?:\.\d+)?|\.\d+)(?<unit>ms|s|m|h)?$/i.exec(text.trim());
  const amount = match?.groups?.["amount"];
  if (amount === undefined) {
    return undefined;
  }
  const unit = match?.groups?.["unit"]?.toLowerCase() ?? "s";
  return Math.round(Number(amount) * (unitsMs[unit] ?? 1_000));
}

/** Milliseconds in the largest unit that needs no fraction: `500ms`, `2s`, `5m`. */
export function formatDuration(ms: number): string {
  const unit = ["h", "m", "s"].find((name) => ms !== 0 && ms % (unitsMs[name] ?? 1) === 0) ?? "ms";
  return `${ms / (unitsMs[unit] ?? 1)}${unit}`;
}
