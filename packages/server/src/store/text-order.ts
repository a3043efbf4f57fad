/**
 * Orders ids by code point, like their UTF-8 bytes: the order of every store. JavaScript's own `<` compares UTF-16
 * units and puts characters beyond U+FFFF before U+E000.
 *
 * @returns negative, zero or positive, as `Array.prototype.sort` expects
 */
export function compareText(one: string, other: string): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = rank(one.charCodeAt(at)) - rank(other.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Moves the surrogates (U+D800 to U+DFFF) above all other UTF-16 units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
