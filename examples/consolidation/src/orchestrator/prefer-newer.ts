import type { Candidate, Clash } from "./clash.ts";

/**
 * Decides by a rule: what people say of themselves counts more than what others say of them, and what was said later more
 * than what was said before. Right more often than not, and never a reason to believe a stranger.
 */
export function preferNewer({ candidates }: Clash): string | undefined {
  const [best] = candidates.toSorted(
    (one, other) => Number(isFirsthand(other)) - Number(isFirsthand(one)) || newest(other) - newest(one),
  );
  return best?.value;
}

function isFirsthand({ evidence }: Candidate): boolean {
  return evidence.some(({ firsthand }) => firsthand);
}

/** Milliseconds since 1970; 0 when there is no evidence with a time. */
function newest({ evidence }: Candidate): number {
  return Math.max(0, ...evidence.map(({ at }) => Date.parse(at) || 0));
}
