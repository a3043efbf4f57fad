import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import { algorithmOption } from "../keys/algorithm-option.ts";
import type { NewKeysFlags } from "../keys/new-keys.ts";
import type { PublicKeysFlags } from "../keys/public-keys.ts";

/** `a2a keys …`: the keys that sign Agent Cards. */
export const addKeys: AddCommand = (program, host) => {
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
  host.action(make, async (context: CommandContext, flags: NewKeysFlags) => {
    const { newKeys } = await import("../keys/new-keys.ts");
    await newKeys(context, flags);
  });
  const publish = keys
    .command("public")
    .description("Print the public side of a key as a key set (JWKS), to be published")
    .argument("<file>", "private or public key: JWK, key set or PEM")
    .option("--kid <id>", "id of a key that has none, as PEM (default: its thumbprint, RFC 7638)")
    .addHelpText("after", publicExamples);
  host.action(publish, async (context: CommandContext, file: string, flags: PublicKeysFlags) => {
    const { publicKeys } = await import("../keys/public-keys.ts");
    await publicKeys(context, file, flags);
  });
};

const newExamples = `
The private key goes to FILE, which nobody but you may read; the public one stands beside it, as FILE.public.json.
Nothing is overwritten without --force.

Examples:
  a2a keys new                                      ES256, into a2a-signing-key.json
  a2a keys new --alg EdDSA --kid 2026-summer --out keys/summer.json
  a2a keys new --out - | vault kv put secret/a2a key=-   the private key alone, on the standard output`;

const publicExamples = `
Private members are left out, whatever the file holds. Where it goes: the URL that signatures name by jku, such as
https://agents.example.org/.well-known/jwks.json (a2a serve --sign-key serves it by itself).

Examples:
  a2a keys public a2a-signing-key.json > jwks.json
  a2a keys public signer.pem --kid 2026-summer`;
