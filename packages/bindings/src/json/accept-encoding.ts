/**
 * The coding of an answer: of our codings the one that an Accept-Encoding header prefers, and the first of several
 * equal ones. Undefined for no coding: when the header allows none, or prefers `identity`. `*` is every coding that the
 * header does not name (RFC 9110 §12.5.3).
 */
export function negotiateCoding<Coding extends { readonly name: string }>(
  acceptEncoding: string | null,
  compressions: readonly Coding[],
): Coding | undefined {
  if (acceptEncoding === null || compressions.length === 0) {
    return undefined;
  }
  const weights = new Map(acceptEncoding.split(",").map(parseItem));
  const others = weights.get("*") ?? 0;
  let preferred: Coding | undefined;
  let highest = 0;
  for (const compression of compressions) {
    const weight = weights.get(compression.name) ?? others;
    if (weight > highest) {
      preferred = compression;
      highest = weight;
    }
  }
  return (weights.get("identity") ?? others) > highest ? undefined : preferred;
}

function parseItem(item: string): [coding: string, weight: number] {
  const [coding = "", ...parameters] = item.split(";");
  const weight = parameters
    .map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(parameter)?.[1])
    .find(Boolean);
  return [coding.trim().toLowerCase(), Number(weight ?? 1)];
}
