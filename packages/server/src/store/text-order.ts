/**
 * Orders ids by code point, as their UTF-8 bytes are ordered: the order of every store. JavaScript's own `<` compares
 * UTF-16 units and puts what lies beyond U+FFFF before U+E000.
 *
 * @returns negative, zero or positive, as `Array.prototype.sort` wants it
 */
export function compareText(one: string, other: string): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = rank(one.charCodeAt(at)) - rank(other.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Moves the surrogates (U+D800 to U+DFFF) above everything else that one UTF-16 unit can be. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
