/**
 * Whether two values of messages are the same: messages of one type, their lists, maps, bytes and Structs, member by
 * member. A member that is undefined is one that is not set. Unknown fields do not count.
 */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) {
    return true;
  }
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) {
    return false;
  }
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && areSame(one, other);
  }
  if (one instanceof Uint8Array || other instanceof Uint8Array) {
    return one instanceof Uint8Array && other instanceof Uint8Array && areSame(one, other);
  }
  const [these, those] = [one, other] as readonly [Members, Members];
  const isMessage = "$typeName" in one;
  for (const name in these) {
    if (!(isMessage && name === "$unknown") && !isSame(these[name], those[name])) return false;
  }
  for (const name in those) {
    const isExtra = !Object.hasOwn(these, name) && those[name] !== undefined;
    if (isExtra && !(isMessage && name === "$unknown")) return false;
  }
  return true;
}

/** By name. */
type Members = Readonly<Record<string, unknown>>;

function areSame(these: ArrayLike<unknown>, those: ArrayLike<unknown>): boolean {
  let at = 0;
  while (at < these.length && isSame(these[at], those[at])) {
    at += 1;
  }
  return at === these.length && at === those.length;
}
