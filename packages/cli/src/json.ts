/** JSON of which nothing is known but that it is an object. */
export type LooseObject = Readonly<Record<string, unknown>>;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is LooseObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value where it is an object; else an empty one. */
export function objectOf(value: unknown): LooseObject {
  return isObject(value) ? value : {};
}

/** The object that a text is; empty for anything else. */
export function readObject(text: string): LooseObject {
  return objectOf(parseJson(text));
}

/** The members that are not undefined: for options that may be left out, and may not be undefined. */
export function defined<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof T]?: Exclude<T[Name], undefined> }; // none is left that is
}
