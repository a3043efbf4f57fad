import type { AgentCard } from "@a2a-connect/proto";
import {
  type CardSigner,
  createCardSigner,
  createKeySet,
  publicKeyOf,
  SigningError,
  signCard,
  type VerificationKey,
} from "@a2a-connect/signing";
import type { PublishedKeySet } from "@a2a-connect/signing/internal";
import type { CardSigning, CardSigningKey } from "./card-signing.ts";

/** Keys that have been looked at, ready to sign. */
export interface OpenSigning {
  /** The card with a signature of each key that signs. @throws Error (as a rejection) naming the key that does not */
  sign(card: AgentCard, baseUrl: string): Promise<AgentCard>;
  /** The key set, and until when it stays like that (milliseconds since 1970). */
  keySetAt(now: number): { readonly keySet: PublishedKeySet; readonly until: number };
}

interface OpenKey {
  readonly publicKey: VerificationKey;
  /** Undefined: it is retired. */
  readonly signer: CardSigner | undefined;
  /** When it leaves the key set; infinite: it does not. */
  readonly until: number;
}

/**
 * Looks at the keys once.
 *
 * @param path of the agent below the base URL, "" when it is alone
 * @throws Error (as a rejection) naming the key that cannot be used, and why
 */
export async function openSigning(
  { keys: given, jku = true, header }: CardSigning,
  path: string,
): Promise<OpenSigning> {
  const keys = await Promise.all(given.map((key, index) => openKey(key, nameOf(key, index))));
  const signers = keys.flatMap(({ signer }) => (signer === undefined ? [] : [signer]));
  if (signers.length === 0) {
    throw new Error("cards cannot be signed: none of the keys signs, there is none or all are retired");
  }
  assertNotBoth(keys);
  const rest = header === undefined ? {} : { header };
  return {
    async sign(card, baseUrl) {
      const url = typeof jku === "string" ? jku : jku ? keySetUrl(baseUrl + path) : undefined;
      const options = url === undefined ? rest : { ...rest, jku: url };
      let signed = card;
      for (const signer of signers) {
        signed = await signCard(signed, { ...options, signer }).catch((error: unknown) => {
          throw unusable(JSON.stringify(signer.kid), error);
        });
      }
      return signed;
    },
    keySetAt(now) {
      const shown = keys.map(({ publicKey, until }) =>
        until === Number.POSITIVE_INFINITY ? publicKey : { ...publicKey, exp: Math.floor(until / 1_000) },
      );
      const coming = keys.map(({ until }) => until).filter((until) => until > now);
      return { keySet: createKeySet(shown, { now }), until: Math.min(...coming) };
    },
  };
}

/** Verifiers would drop what it goes on signing from that date on. */
function assertNotBoth(keys: readonly OpenKey[]): void {
  for (const { signer } of keys) {
    if (keys.some((other) => other.signer === undefined && other.publicKey.kid === signer?.kid)) {
      throw new Error(
        `the key ${JSON.stringify(signer?.kid)} is retired, and is to sign: leave one of them out`,
      );
    }
  }
}

async function openKey(key: CardSigningKey, name: string): Promise<OpenKey> {
  const { retiredUntil, ...options } = key;
  try {
    if (retiredUntil !== undefined) {
      const until = retiredUntil.getTime();
      return { publicKey: await publicSideOf(options), signer: undefined, until };
    }
    const signer = await createCardSigner(options);
    const { publicKey = await publicSideOf(options) } = signer;
    return { publicKey, signer, until: Number.POSITIVE_INFINITY };
  } catch (error) {
    throw unusable(name, error);
  }
}

/** A key that signed once may be nothing but its public side now. */
async function publicSideOf({ key, kid, alg, publicKey }: CardSigningKey): Promise<VerificationKey> {
  const known = publicKey ?? (isKeyMaterial(key) ? key : undefined);
  if (known === undefined) {
    throw new SigningError("its public key is not known", "give it as publicKey: callers verify with it");
  }
  return publicKeyOf(known, { ...(kid === undefined ? {} : { kid }), ...(alg === undefined ? {} : { alg }) });
}

/** A JWK or PEM, and nothing that keeps its key to itself. */
function isKeyMaterial(key: CardSigningKey["key"]): key is NonNullable<CardSigningKey["publicKey"]> {
  return typeof key === "string" || (typeof key === "object" && !(key instanceof CryptoKey));
}

/** As its owner knows it: by its id, else by its place. */
function nameOf({ key, kid, publicKey }: CardSigningKey, index: number): string {
  const known = [key, publicKey].flatMap((each) =>
    typeof each === "object" && "kid" in each && typeof each.kid === "string" ? [each.kid] : [],
  );
  const id = kid ?? known[0];
  return id === undefined ? `number ${index + 1}` : JSON.stringify(id);
}

function unusable(name: string, error: unknown): Error {
  const why =
    error instanceof SigningError
      ? `${error.message}; ${error.hint}`
      : `whoever signs with it failed: ${error instanceof Error ? error.message : String(error)}`;
  return new Error(`cards cannot be signed with the key ${name}: ${why}`, { cause: error });
}

/** Where verifiers ask for the keys of a server, if they do: by https, or on this machine itself. */
function keySetUrl(agentUrl: string): string | undefined {
  const { protocol, hostname } = new URL(agentUrl);
  const isLocal = hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
  return protocol === "https:" || isLocal ? `${agentUrl}/.well-known/jwks.json` : undefined;
}
