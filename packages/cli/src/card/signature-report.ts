import { type CardVerdict, thumbprintOf, type VerificationKey } from "@a2a-connect/signing";
import type { SignatureHeader } from "./signature-header.ts";
import type { SignatureReport } from "./verdict-report.ts";

/**
 * The verdicts of a card's signatures with what else is known of them: what their headers say, which keys were tried in vain, and
 * until when the right ones count.
 *
 * @param keys all that were at hand, of whatever source
 */
export async function reportSignatures(
  { signatures }: CardVerdict,
  headers: readonly SignatureHeader[],
  keys: readonly VerificationKey[],
): Promise<readonly SignatureReport[]> {
  const known = await Promise.all(
    keys.map(async (key) => ({ key, thumbprint: await thumbprintOrNone(key) })),
  );
  return signatures.map((verdict) => {
    const header = headers[verdict.index];
    const tried = verdict.valid ? [] : known.filter(({ key }) => key.kid === header?.kid);
    const signer = known.find(
      ({ key, thumbprint }) => thumbprint === verdict.thumbprint && key.exp !== undefined,
    );
    return {
      ...verdict,
      header,
      tried: [...new Set(tried.flatMap(({ thumbprint }) => thumbprint ?? []))],
      expires: verdict.thumbprint === undefined ? undefined : toTime(signer?.key.exp),
    };
  });
}

/** One that cannot verify cards has none. */
async function thumbprintOrNone(key: VerificationKey): Promise<string | undefined> {
  return await thumbprintOf(key).catch(() => undefined);
}

/** @param seconds since 1970 */
function toTime(seconds: number | undefined): string | undefined {
  const time = new Date((seconds ?? Number.NaN) * 1_000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
