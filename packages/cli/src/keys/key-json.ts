/** A key as JSON has it: whatever its members are. */
export type KeyJson = Readonly<Record<string, unknown>>;

/** The keys of a JWK or a key set, as they stand there; undefined for PEM, and for what is no key. */
export function readKeyJson(text: string): readonly KeyJson[] | undefined {
  try {
    const json: unknown = JSON.parse(text.trim());
    if (!isObject(json)) return undefined;
    const { keys } = json;
    if (keys === undefined) return [json];
    return Array.isArray(keys) ? keys.filter(isObject) : undefined;
  } catch {
    return undefined;
  }
}

/** The id that a key has itself. */
export function ownIdOf({ kid }: KeyJson): string | undefined {
  return typeof kid === "string" && kid !== "" ? kid : undefined;
}

function isObject(value: unknown): value is KeyJson {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
