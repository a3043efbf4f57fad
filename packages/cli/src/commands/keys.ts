import type { SignatureAlgorithm } from "@a2a-connect/signing/internal";
import { Option } from "commander";
import type { AddCommand } from "../command.ts";

/** `a2a keys …`: the keys that sign Agent Cards. */
export const addKeys: AddCommand = (program, setAction) => {
  const keys = program.command("keys").description("Make the keys that sign Agent Cards, and publish them");
  const make = keys
    .command("new")
    .description("Make a key pair: a private key that signs cards, and a public one that verifies them")
    .addOption(algorithmOption("signature algorithm of the key (default: ES256)"))
    .option("--kid <id>", "id of the key, as signatures name it (default: its thumbprint, RFC 7638)")
    .option("--out <file>", "where the private key goes; - is stdout (default: a2a-signing-key.json)")
    .option("--pem", "write the private key as PEM (PKCS#8) instead of a JWK; the public one is always a JWK")
    .option("--force", "overwrite existing keys, which are then lost")
    .addHelpText("after", newExamples);
  setAction(make, async () => (await import("../keys/new-keys.ts")).newKeys, "local");
  const publish = keys
    .command("public")
    .description("Print the public part of keys as a key set (JWKS), ready to publish")
    .argument("<file...>", "private or public keys: JWK, key set or PEM; - is the standard input")
    .option(
      "--kid <id>",
      "id for a key that has none, such as PEM (default: its thumbprint, RFC 7638); in a key set, the key to print",
    )
    .addHelpText("after", publicExamples);
  setAction(publish, async () => (await import("../keys/public-keys.ts")).publicKeys, "local");
};

const newExamples = `
The private key goes into a file that only you can read, such as k.json, and the public key beside it, into k.public.json.
Only --force overwrites a file. A PEM file has no key id, and does not say that a key is for PS256: pass --kid and --alg
to card sign. a2a serve has no such options: make its key without --pem.

Examples:
  a2a keys new                                      ES256, into a2a-signing-key.json
  a2a keys new --alg EdDSA --kid 2026-summer --out keys/summer.json
  a2a keys new --out - | vault kv put secret/a2a key=-   the private key alone, on the standard output`;

const publicExamples = `
The output never has private members. Publish it at the URL that your signatures name (jku), such as
https://agents.example.org/.well-known/jwks.json. a2a serve --sign-key serves it for you.

Examples:
  a2a keys public a2a-signing-key.json > jwks.json
  a2a keys public old.public.json new.public.json > jwks.json    both, while keys are rotated
  vault kv get -field=key secret/a2a | a2a keys public -
  a2a keys public signer.pem --kid 2026-summer`;

/** Listed here, so that help needs not load what signs. */
const algorithmNames = [
  "ES256",
  "ES384",
  "EdDSA",
  "Ed25519",
  "RS256",
  "PS256",
] as const satisfies readonly SignatureAlgorithm[];

export function algorithmOption(description: string): Option {
  return new Option("--alg <name>", description).choices(algorithmNames);
}
