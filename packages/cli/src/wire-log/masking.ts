/** Names of headers, query parameters and cookies whose values are masked. */
const credentialName =
  /auth|token|secret|pass(?:word|wd|phrase)|credential|cookie|session|signature|api[-_]?key|(?:^|[-_])(?:key|sig|pwd|jwt)(?:$|[-_])/i;

/** Challenges, the key that names a send, the mark of a page. */
const harmlessName = /^(?:(?:www|proxy)-authenticate|idempotency-key|(?:next)?[-_]?page[-_]?token)$/i;

export function isCredentialName(name: string): boolean {
  return credentialName.test(name) && !harmlessName.test(name);
}

/** Takes credentials out of what is logged. No flag changes what it does (A2ACLI_AUTH_004). */
export interface Masking {
  header(name: string, value: string): string;
  /** The address, its query masked. */
  url(address: string): string;
  /** A body, or a line of one. */
  text(content: string): string;
}

const mask = "***";

/** Members of JSON whose text is masked wherever they stand: webhooks' tokens and credentials are among them. */
const secretMember =
  /("([\w-]*(?:token|secret|password|passwd|passphrase|credentials?|authorization|api[-_]?key|cookie|private[-_]?key))"\s*:\s*)"(?:[^"\\]|\\.)*"?/gi;

/** `name=value` in addresses and forms, inside other text. */
const parameter = /(?<=^|[?&\s"])([\w.~-]+)=([^&\s"'<>]+)/g;

/** A mask for these secrets, wherever they turn up, and for values with the name of one. */
export function createMasking(secrets: Iterable<string>): Masking {
  // Longer ones first, so that one that contains another goes as a whole. Very short ones would mask ordinary text.
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= 4)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret)
        .toString("base64")
        .replace(/={1,2}$/, ""),
    ])
    .sort((one, other) => other.length - one.length);
  const values = (text: string): string =>
    known.reduce((masked, secret) => masked.replaceAll(secret, mask), text);
  return {
    header(name, value) {
      if (!isCredentialName(name)) return values(value);
      const scheme = /^(?:proxy-)?(?:www-)?authorization$/i.test(name)
        ? /^[\w-]+ (?=\S)/.exec(value)?.[0]
        : undefined;
      return `${scheme ?? ""}${mask}`;
    },
    url(address) {
      const url = URL.parse(address);
      if (url === null) return values(address);
      url.username &&= mask;
      url.password &&= mask;
      for (const name of new Set(url.searchParams.keys())) {
        if (isCredentialName(name)) url.searchParams.set(name, mask);
      }
      return values(url.href);
    },
    text: (content) =>
      values(
        content
          .replace(secretMember, (found, start: string, name: string) =>
            isCredentialName(name) ? `${start}"${mask}"` : found,
          )
          .replace(parameter, (found, name: string) => (isCredentialName(name) ? `${name}=${mask}` : found)),
      ),
  };
}

export interface GivenCredentials {
  readonly bearer: string | undefined;
  readonly apiKey: string | undefined;
  /** Service parameters, lower-case names: a header that a scheme asks for may be among them. */
  readonly serviceParameters: Readonly<Record<string, string>>;
}

/** Takes everything out of what is logged that these settings hold as a credential, or under a name of one. */
export function maskSettings({ bearer, apiKey, serviceParameters }: GivenCredentials): Masking {
  const parameters = Object.entries(serviceParameters)
    .filter(([name]) => isCredentialName(name))
    .flatMap(([, value]) => [value, value.replace(/^[\w-]+ +/, "")]);
  return createMasking([bearer, apiKey, ...parameters].filter((secret) => secret !== undefined));
}
