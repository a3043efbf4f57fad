/**
 * Options without those that are `undefined`, which then do not replace defaults. Most programs compile without
 * `exactOptionalPropertyTypes`, and with a limit of `undefined` everything would be refused, or nothing.
 */
export function dropUndefined<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options; // the same but for these
}
