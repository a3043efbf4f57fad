import type { KeyJson } from "./key-json.ts";

/**
 * Why verifiers would refuse what a key signs now; the rest of a sentence about the key, or undefined. A date or a mark that
 * cannot be read counts against it, as it does for them.
 *
 * @param now milliseconds since 1970
 */
export function findTimeFault({ nbf, exp, revoked }: KeyJson, now: number): string | undefined {
  if (revoked !== undefined && revoked !== null && revoked !== false) return "is revoked";
  if (exp !== undefined && !(isTime(exp) && now < exp * 1000)) {
    return isTime(exp) ? `is expired since ${formatTime(exp)}` : "has an exp that is no date";
  }
  if (nbf !== undefined && !(isTime(nbf) && now >= nbf * 1000)) {
    return isTime(nbf) ? `is not valid before ${formatTime(nbf)}` : "has an nbf that is no date";
  }
  return undefined;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function formatTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? `second ${seconds}` : date.toISOString();
}
