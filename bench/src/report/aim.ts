import { formatNumber, formatRatio } from "./table.ts";

/** One aim of the project and what was measured. */
export interface AimVerdict {
  readonly what: string;
  readonly aim: string;
  readonly measured: string;
  readonly verdict: "met" | "CPU only" | "missed";
}

/**
 * Holds two ratios (peer / ours) against an aim. Both count: `CPU only` is one that a caller does not see, because the
 * load, the sockets or the scheduler take part in the time.
 */
export function judgeRatio(
  what: string,
  least: number,
  ratio: { readonly time: number; readonly cpu: number },
): AimVerdict {
  const verdict = ratio.cpu < least ? "missed" : ratio.time < least ? "CPU only" : "met";
  return {
    what,
    aim: `>= ${formatRatio(least)}`,
    measured: `time ${formatRatio(ratio.time)}, CPU ${formatRatio(ratio.cpu)}`,
    verdict,
  };
}

/** Holds a figure that is to be small against an aim. */
export function judgeLimit(what: string, most: number, measured: number, unit: string): AimVerdict {
  return {
    what,
    aim: `< ${formatNumber(most)}${unit}`,
    measured: `${formatNumber(measured)}${unit}`,
    verdict: measured < most ? "met" : "missed",
  };
}
