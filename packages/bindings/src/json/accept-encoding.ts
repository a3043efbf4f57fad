/**
 * The coding to answer with: the first of ours that an Accept-Encoding header allows, undefined for none. `*` stands for
 * every coding that the header does not name.
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
  return compressions.find(({ name }) => (weights.get(name) ?? others) > 0);
}

function parseItem(item: string): [coding: string, weight: number] {
  const [coding = "", ...parameters] = item.split(";");
  const weight = parameters
    .map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(parameter)?.[1])
    .find(Boolean);
  return [coding.trim().toLowerCase(), Number(weight ?? 1)];
}
