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
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  if ("$typeName" in one) {
    names.delete("$unknown");
  }
  const [these, those] = [one, other] as readonly Readonly<Record<string, unknown>>[]; // by name
  return [...names].every((name) => isSame(these?.[name], those?.[name]));
}

function areSame(these: ArrayLike<unknown>, those: ArrayLike<unknown>): boolean {
  let at = 0;
  while (at < these.length && isSame(these[at], those[at])) {
    at += 1;
  }
  return at === these.length && at === those.length;
}
