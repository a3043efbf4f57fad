/** The scope that callers need to send, answer, cancel, and change webhooks. */
export const createScope = "a2a:tasks:create";

/** The scope that callers need to get, list and subscribe. */
export const readScope = "a2a:tasks:read";

/** What a caller needs who may do everything with its own tasks. */
export const defaultScopes: readonly string[] = [createScope, readScope];
