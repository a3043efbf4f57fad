import {
  AgentCard,
  canonicalizeAgentCard,
  generateAgentCardSignature,
  verifyAgentCardSignature,
} from "@a2a-js/sdk";
import type { JsonObject } from "@bufbuild/protobuf";
import { base64url } from "jose";
import type { SignatureBook } from "./signature-book.ts";
import { privateKey, publicKey } from "./test-keys.ts";
import type { CardSignature } from "./vector.ts";
import { es256Header } from "./vector-case.ts";

/** The version that has made these signatures. */
export const jsSdk = "@a2a-js/sdk 1.3.0";

/**
 * How a card is handed to the SDK. As `json` it is what was parsed; as `typed` what `AgentCard.fromJSON` makes of that, which is
 * what its types ask for. In that, oneofs are a `$case`, which it does not find again when it signs: it signs no scheme at all.
 */
export type HandedAs = "json" | "typed";

function handed(card: JsonObject, as: HandedAs): AgentCard {
  // The SDK reads JSON at run time, and says AgentCard in its types.
  return as === "typed" ? AgentCard.fromJSON(card) : (card as unknown as AgentCard);
}

const verify = verifyAgentCardSignature(async () => publicKey("es256-1"));

/** A signature that the SDK has really made. */
export async function signByJsSdk(
  card: JsonObject,
  as: HandedAs,
  book: SignatureBook,
): Promise<CardSignature> {
  const unsigned = handed(card, as);
  const protectedText = base64url.encode(JSON.stringify(es256Header));
  const signature = await book.signature(
    `${jsSdk} es256-1`,
    `${protectedText}.${base64url.encode(canonicalizeAgentCard(unsigned))}`,
    (before) => jsSdkAccepts(card, [{ protected: protectedText, signature: before }], as),
    async () => {
      const sign = generateAgentCardSignature(privateKey("es256-1"), es256Header);
      const made = (await sign(unsigned)).signatures.at(-1);
      if (made?.protected !== protectedText) {
        throw new Error("the SDK writes its header in another way");
      }
      return made.signature;
    },
  );
  return { protected: protectedText, signature };
}

/** Whether the SDK takes the card for signed. */
export async function jsSdkAccepts(
  card: JsonObject,
  signatures: readonly CardSignature[],
  as: HandedAs,
): Promise<boolean> {
  const whole = { ...card, signatures: signatures.map((each) => ({ ...each })) };
  const { debug } = console;
  // It prints every signature that it refuses.
  console.debug = () => {};
  try {
    await verify(handed(whole, as));
    return true;
  } catch {
    return false;
  } finally {
    console.debug = debug;
  }
}
