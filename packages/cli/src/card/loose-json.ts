/** JSON of which nothing is known. */
export type LooseObject = Readonly<Record<string, unknown>>;

/** The object that a text is; empty for anything else. */
export function readObject(text: string): LooseObject {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The value where it is an object; else an empty one. */
export function objectOf(value: unknown): LooseObject {
  return isObject(value) ? value : {};
}

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is LooseObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The texts of all members with such a name, however deep. */
export function textsIn(value: unknown, name: RegExp): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((element) => textsIn(element, name));
  return Object.entries(objectOf(value)).flatMap(([key, member]) =>
    typeof member === "string" && name.test(key) ? [member] : textsIn(member, name),
  );
}
