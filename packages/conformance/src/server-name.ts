/** How the server of a scenario is set up. */
export type ServerName =
  /** Everything on; with or without push. */
  | "full"
  /** No streaming, no push, no extended card, text and JSON only. */
  | "bare"
  /** Requires an extension of every call. */
  | "required-extension"
  /** Takes webhooks. */
  | "push"
  /** Takes no webhooks. */
  | "no-push"
  /** Knows callers by the header of `asCaller`; has an extended card for those it knows. */
  | "identity"
  /** Declares an extended card, and has none. */
  | "no-card"
  /** Takes a call without a version for 1.0. */
  | "lenient-version"
  /** Lets no caller in without credentials. */
  | "credentials"
  /** Signs its cards. */
  | "signed"
  /** Speaks no version but 1.0. */
  | "one-version"
  /** Lets no caller wait for a newer generation for long. */
  | "short-poll";

/** The extension that the server of that name requires. */
export const requiredExtension = "urn:a2a:tck:required-extension";

/** For calls that name no extension which a card requires. */
export const anotherExtension = { "a2a-extensions": "urn:a2a-connect:another" } as const;

/** Who calls the server "identity". */
export const asCaller = (id: string): Readonly<Record<string, string>> => ({ "x-test-caller": id });
