/** The scope that callers need to send, answer, cancel, and change webhooks. */
export const createScope = "a2a:tasks:create";

/** The scope that callers need to get, list and subscribe. */
export const readScope = "a2a:tasks:read";

/** The scope that callers from other machines need to read what the agent's code has noted of their tasks. */
export const notesScope = "a2a:tasks:notes";

/** What a caller needs who may do everything with its own tasks. */
export const defaultScopes: readonly string[] = [createScope, readScope];
