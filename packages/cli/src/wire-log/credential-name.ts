/** Names of headers, query parameters and cookies whose values nobody needs to see. */
const credentialName =
  /auth|token|secret|pass(?:word|wd|phrase)|credential|cookie|session|signature|api[-_]?key|(?:^|[-_])(?:key|sig|pwd|jwt)(?:$|[-_])/i;

/** Whether something of this name is taken for a credential. */
export function isCredentialName(name: string): boolean {
  return credentialName.test(name) && !/^(?:www|proxy)-authenticate$/i.test(name); // a challenge is no secret
}
