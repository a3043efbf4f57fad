/** Names of headers, query parameters and cookies whose values nobody needs to see. */
const credentialName =
  /auth|token|secret|pass(?:word|wd|phrase)|credential|cookie|session|signature|api[-_]?key|(?:^|[-_])(?:key|sig|pwd|jwt)(?:$|[-_])/i;

/** Challenges, the key that names a send, the mark of a page. */
const harmlessName = /^(?:(?:www|proxy)-authenticate|idempotency-key|(?:next)?[-_]?page[-_]?token)$/i;

/** Whether something of this name is taken for a credential. */
export function isCredentialName(name: string): boolean {
  return credentialName.test(name) && !harmlessName.test(name);
}
