// Callers in plain JavaScript: what a compiler would have told them.

import * as signing from "@a2a-connect/signing";
import type { JsonValue } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";

/** The package without its types. */
const untyped = signing as unknown as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;

const cardText = JSON.stringify({
  name: "Agent",
  description: "An agent.",
  version: "1",
  capabilities: {},
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "S", description: "A skill.", tags: ["t"] }],
  supportedInterfaces: [{ url: "https://a.example", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
});
let pair: Awaited<ReturnType<typeof signing.generateSigningKey>>;
let signed: string;
beforeAll(async () => {
  pair = await signing.generateSigningKey();
  signed = await signing.signCardText(cardText, { key: pair.privateJwk });
});

/** What a function of the package says of its arguments, whether it throws or rejects. */
async function complaint(name: string, ...args: readonly unknown[]): Promise<string> {
  try {
    await untyped[name]?.(...args);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "nothing";
}

describe("a policy that stands in the wrong place", () => {
  it("is none that verifyCard drops", async () => {
    const keys = [pair.publicJwk];
    for (const [member, value] of Object.entries({
      minSigners: 2,
      revoked: [pair.publicJwk.kid],
      minimumSecurity: { requirements: true },
      signers: [],
      jku: {},
      memory: {},
      algorithms: [],
    } satisfies Record<string, JsonValue | object>)) {
      expect(await complaint("verifyCard", signed, { keys, [member]: value })).toEqual(
        expect.stringContaining(`"${member}" is not a member of the options of verifyCard`),
      );
    }
  });

  it("does no harm when it is left undefined", async () => {
    const options = { keys: [pair.publicJwk], minSigners: undefined };
    expect(await untyped["verifyCard"]?.(signed, options)).toMatchObject({ verified: true });
  });

  it.each<[name: string, args: readonly unknown[], words: string]>([
    ["createCardVerifier", [{ url: "https://a.example" }], '"url" is not a member of '],
    ["createCardVerifier", [{ hosts: [] }], '"hosts" is not a member of '],
    ["createCardVerifier", [{ tls: true }], '"tls" is not a member of '],
    ["createCardVerifier", [{ jku: { host: [] } }], '"host" is not a member of '],
    ["createCardVerifier", [{ minimumSecurity: { tsl: true } }], '"tsl" is not a member of '],
    ["trustCards", [{ minSigner: 2 }], '"minSigner" is not a member of '],
    ["trustCards", [{}, { minSigners: 2 }], '"minSigners" is not a member of '],
    ["trustCards", [{}, { onAlarms: () => {} }], '"onAlarms" is not a member of '],
    ["createCardMemory", [{ maxCard: 1 }], '"maxCard" is not a member of '],
    ["signCardText", [cardText, { jkuUrl: "" }], '"jkuUrl" is not a member of '],
    ["createCardSigner", [{ jku: "https://a.example/jwks.json" }], '"jku" is not a member of '],
    ["generateSigningKey", [{ algorithm: "EdDSA" }], '"algorithm" is not a member of '],
    ["publicKeyOf", [{}, { id: "x" }], '"id" is not a member of '],
    ["createKeySet", [[], { expired: true }], '"expired" is not a member of '],
    ["readVerificationKeys", ["", { alg: "EdDSA" }], '"alg" is not a member of '],
  ])("is named by %s %j", async (name, args, words) => {
    expect(await complaint(name, ...args)).toContain(words);
  });

  it("is named by a verifier, and by signCard with a signer", async () => {
    const verifier = signing.createCardVerifier({ keys: [pair.publicJwk] });
    const context = { minSigners: 2 } as object;
    await expect(verifier.verify(signed, context)).rejects.toThrow('"minSigners" is not a member of ');
    const signer = await signing.createCardSigner({ key: pair.privateJwk });
    expect(await complaint("signCardText", cardText, { signer, kid: "other" })).toContain(
      '"kid" is not a member of ',
    );
  });
});
