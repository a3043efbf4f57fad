import { isLoopbackHost } from "@a2a-connect/core/internal";
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
import { type CardSignerOptions, type PublishedKeySet, signOlderCard } from "@a2a-connect/signing/internal";
import type { JsonObject } from "@bufbuild/protobuf";

/** How the cards of a server are signed. */
export interface CardSigning {
  /** At least one that signs. Each that does adds a signature, in this order. */
  readonly keys: readonly CardSigningKey[];
  /**
   * Where verifiers find the public keys: `true` is this server's own `/.well-known/jwks.json` at the URL that the card names,
   * left out where that is plain http to another machine, because no verifier would ask there; a text is another key set.
   * `false`: the card does not say. Default true.
   */
  readonly jku?: boolean | string;
}

/** A key of a server; its public side stands in `/.well-known/jwks.json`. A remote signer needs `publicKey`. */
export interface CardSigningKey extends CardSignerOptions {
  /**
   * Until when a key that signs no more still verifies what it has signed. Until then it stands in the key set with that date as
   * `exp`, afterwards no more. Undefined: it signs.
   */
  readonly retiredUntil?: Date;
}

/** Keys that have been checked, ready to sign. */
export interface SigningKeys {
  /** The card with a signature of each key that signs. @throws Error (as a rejection) naming the key that does not */
  sign(card: AgentCard, baseUrl: string): Promise<AgentCard>;
  /** The same of the JSON of a card in the form of an older version, whose own text is signed. */
  signOlder(card: JsonObject, baseUrl: string): Promise<JsonObject>;
  /** The public keys at a time, in milliseconds since 1970: without those whose date is over. */
  keySetAt(now: number): PublishedKeySet;
}

/**
 * Checks the keys once.
 *
 * @param path of the agent below the base URL, "" when it is alone
 * @throws Error (as a rejection) naming the key that cannot be used, and why
 */
export async function openSigningKeys(
  { keys: given, jku = true }: CardSigning,
  path: string,
): Promise<SigningKeys> {
  const keys = await Promise.all(
    given.map((key, index) => naming(key.kid ?? kidOf(key) ?? index + 1, () => openKey(key))),
  );
  const signers = keys.flatMap(({ signer }) => signer ?? []);
  const published = keys.map(({ publicKey }) => publicKey);
  if (signers.length === 0) {
    throw new Error("cards cannot be signed: none of the keys signs, there is none or all are retired");
  }
  // Verifiers would drop what a key goes on signing after the date on which it retires.
  const both = signers.find(({ kid }) => keys.some((key) => !key.signer && key.publicKey.kid === kid));
  if (both !== undefined) {
    throw new Error(`the key ${JSON.stringify(both.kid)} is retired, and is to sign: leave one of them out`);
  }
  const optionsFor = (baseUrl: string) => {
    const url = jku === true ? keySetUrl(baseUrl + path) : jku;
    return typeof url === "string" ? { jku: url } : {};
  };
  return {
    async sign(card, baseUrl) {
      let signed = card;
      for (const signer of signers) {
        const options = { ...optionsFor(baseUrl), signer };
        signed = await naming(signer.kid, () => signCard(signed, options));
      }
      return signed;
    },
    signOlder: (card, baseUrl) => signOlderCard(card, signers, optionsFor(baseUrl)),
    keySetAt: (now) => createKeySet(published, { now }),
  };
}

interface OpenKey {
  readonly publicKey: VerificationKey;
  /** Undefined: the key is retired. */
  readonly signer?: CardSigner;
}

async function openKey({ retiredUntil, ...key }: CardSigningKey): Promise<OpenKey> {
  if (retiredUntil !== undefined) {
    const exp = Math.floor(retiredUntil.getTime() / 1_000);
    if (Number.isNaN(exp)) throw new SigningError("its date is none (retiredUntil)", "give a valid Date");
    return { publicKey: { ...(await publicSideOf(key)), exp } };
  }
  const signer = await createCardSigner(key);
  return { publicKey: signer.publicKey, signer };
}

/** A key that signed once may be nothing but its public side now. */
async function publicSideOf({ key, kid, alg, publicKey }: CardSignerOptions): Promise<VerificationKey> {
  const known = publicKey ?? (typeof key === "function" ? undefined : key);
  if (known === undefined) {
    throw new SigningError("its public key is not known", "give it as publicKey: callers verify with it");
  }
  return publicKeyOf(known, { kid, alg });
}

function kidOf({ key, publicKey }: CardSigningKey): unknown {
  return [key, publicKey].map((each) => typeof each === "object" && "kid" in each && each.kid).find(Boolean);
}

/** What is done with a key. @throws Error that names it, by its id or its place */
async function naming<T>(name: unknown, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const why =
      error instanceof SigningError
        ? `${error.message}; ${error.hint}`
        : `its signing function failed: ${error instanceof Error ? error.message : String(error)}`;
    throw new Error(`cards cannot be signed with the key ${JSON.stringify(name)}: ${why}`, { cause: error });
  }
}

/** Where verifiers ask for the keys of a server, if they do: by https, or on this machine itself. */
function keySetUrl(agentUrl: string): string | undefined {
  const { protocol, hostname } = new URL(agentUrl);
  return protocol === "https:" || isLoopbackHost(hostname) ? `${agentUrl}/.well-known/jwks.json` : undefined;
}
