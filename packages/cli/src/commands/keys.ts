import type { SignatureAlgorithm } from "@a2a-connect/signing/internal";
import { Option } from "commander";
import type { AddCommand } from "../command.ts";

/** `a2a keys …`: the keys that sign Agent Cards. */
export const addKeys: AddCommand = (program, setAction) => {
  const keys = program.command("keys").description("Make the keys that sign Agent Cards, and publish them");
  const make = keys
    .command("new")
    .description("Make a key pair: a private key that signs cards, and a public one that verifies them")
    .addOption(algorithmOption("what the key is for (default: ES256)"))
    .option("--kid <id>", "id of the key, as signatures name it (default: its thumbprint, RFC 7638)")
    .option(
      "--out <file>",
      "where the private key goes, - is the standard output (default: a2a-signing-key.json)",
    )
    .option(
      "--pem",
      "write the private key as PEM (PKCS#8) instead of a JWK; the public one is a JWK all the same",
    )
    .option("--force", "overwrite keys that are there: what they have signed cannot be signed by them again")
    .addHelpText("after", newExamples);
  setAction(make, async () => (await import("../keys/new-keys.ts")).newKeys, "local");
  const publish = keys
    .command("public")
    .description("Print the public side of keys as a key set (JWKS), to be published")
    .argument("<file...>", "private or public keys: JWK, key set or PEM; - is the standard input")
    .option(
      "--kid <id>",
      "id of a key that has none, as PEM (default: its thumbprint, RFC 7638); of a key set, the one that is wanted",
    )
    .addHelpText("after", publicExamples);
  setAction(publish, async () => (await import("../keys/public-keys.ts")).publicKeys, "local");
};

const newExamples = `
The private key goes into a file that nobody but you may read; the public one stands beside it: that of k.json is
k.public.json. Nothing is overwritten without --force. PEM does not say a key's id, nor that it is for PS256: commands
that sign with it have to be told, and a2a serve cannot be.

Examples:
  a2a keys new                                      ES256, into a2a-signing-key.json
  a2a keys new --alg EdDSA --kid 2026-summer --out keys/summer.json
  a2a keys new --out - | vault kv put secret/a2a key=-   the private key alone, on the standard output`;

const publicExamples = `
Private members are left out, whatever the file holds. Where it goes: the URL that signatures name by jku, such as
https://agents.example.org/.well-known/jwks.json (a2a serve --sign-key serves it by itself).

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

/** `--alg`, as all commands have it that sign. */
export function algorithmOption(description: string): Option {
  return new Option("--alg <name>", description).choices(algorithmNames);
}
