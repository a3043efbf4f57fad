import type { LegacyProfile } from "@a2a-connect/signing/internal";
import { Option } from "commander";
import { type AddCommand, collect, wholeNumber } from "../command.ts";
import { algorithmOption } from "./keys.ts";

/** `a2a card …`: fetches, shows, checks, signs and verifies Agent Cards (a2a-cli §10.1; A2A §8.4). */
export const addCard: AddCommand = (program, setAction) => {
  const card = program.command("card").description("Look at Agent Cards, sign and verify them");
  const get = card
    .command("get")
    .description("Fetch an Agent Card and show it")
    .argument("[ref]", "the agent (default: --agent-card)")
    .option("--validate", "check the card against the schema of A2A, and list what is wrong")
    .option("--extended", "fetch the extended card, with the credentials that the public one asks for")
    .addOption(keyOption())
    .addHelpText("after", getExamples);
  setAction(get, async () => (await import("../card/get-card.ts")).getCard);

  const verify = card
    .command("verify")
    .description("Verify the signatures of an Agent Card; exits with 0 only when it is verified")
    .argument("[card]", "file, URL, host, name in a2a.config.yaml, or - (default: --agent-card)")
    .addOption(keyOption())
    .option("--jwks-host <host>", "trust the key sets that this host publishes, repeatable", collect)
    .addOption(profileOption("--profile <name>", "also accept signatures of older software, repeatable"))
    .option(
      "--allow-uncovered",
      "with --profile: accept a signature that leaves interfaces or security fields unprotected",
    )
    .option(
      "--min-signers <n>",
      "how many different keys must have signed (default: 1); more than 1 needs --key or --jwks-host",
      wholeNumber(1, 100),
    )
    .option("--require-security", "refuse a card that lets callers in without credentials or without TLS")
    .option("--memory <file>", "remember each agent's keys and card; refuse other keys or weaker cards later")
    .addHelpText("after", verifyExamples);
  setAction(verify, async () => (await import("../card/verify-card.ts")).verifyCard, "card");

  const sign = card
    .command("sign")
    .description("Sign an Agent Card, and print it in canonical form")
    .argument("<file>", "the card, or - for the standard input")
    .requiredOption("--key <file>", "private key: JWK, PEM (PKCS#8) or key set, or - for the standard input")
    .option(
      "--kid <id>",
      "id for a key that has none, such as PEM (default: its thumbprint); in a key set, the key to sign with",
    )
    .addOption(algorithmOption("signature algorithm (default: the one that the key is made for)"))
    .option("--jku <url>", "where verifiers find the public key: URL of its key set")
    .addOption(new Option("--in-place", "overwrite the file with the signed card").conflicts("out"))
    .option("--out <file>", "write the signed card to this file instead of the standard output (-)")
    .option("--force", "overwrite the file of --out even if it is not a card")
    .option("--replace", "drop all signatures of the card (default: keep those of other keys)")
    .addOption(
      profileOption("--legacy <name>", "warn for this older software, repeatable (default: js-1, raw)"),
    )
    .addHelpText("after", signExamples);
  setAction(sign, async () => (await import("../card/sign-card.ts")).signCard, "local");

  const canonical = card
    .command("canonical")
    .description("Print the canonical bytes of an Agent Card, which its signatures cover")
    .argument("[card]", "file, URL, host, name in a2a.config.yaml, or - (default: --agent-card)")
    .addHelpText("after", canonicalExamples);
  setAction(canonical, async () => (await import("../card/card-source.ts")).printCanonical, "card");

  const forget = card
    .command("forget")
    .description("Remove an agent from the file of --memory: its next card counts as its first")
    .argument("<agent>", "the agent as you verified it: URL, host, or name in a2a.config.yaml")
    .requiredOption("--memory <file>", "where card verify remembers agents")
    .addHelpText("after", forgetExamples);
  setAction(forget, async () => (await import("../card/memory.ts")).forgetCard, "local");
};

function keyOption(): Option {
  return new Option(
    "--key <key>",
    "trusted public key, repeatable, in place of --card-key: a JWK, or a file with a JWK, key set or PEM",
  ).argParser(collect);
}

function profileOption(flags: string, description: string): Option {
  const option = new Option(flags, description).choices(profileNames);
  const { parseArg: choose } = option;
  return option.argParser((name, before?: readonly string[]) => collect(choose?.(name, "") ?? name, before));
}

const profileNames = ["js-1", "python-1", "raw"] as const satisfies readonly LegacyProfile[];

const getExamples = `
Examples:
  a2a card get agents.example.org
  a2a card get agents.example.org -o json > card.json
  a2a card get agents.example.org --key signer.public.json      exits with 1 if that key does not verify the card
  a2a card get card.json --validate`;

const verifyExamples = `
Get the key through a separate channel: a key from the card's own server proves only that this server signed the card.
Without --key (and without a key in a2a.config.yaml) a2a fetches the key set that the signature names (jku), if that key
set is on the card's own origin; the verdict then says that only the origin vouches for the card.

Examples:
  a2a card verify agents.example.org --key signer.public.json
  a2a card verify card.json --key old.pem --key new.json --min-signers 2
  a2a card verify https://agents.example.org --jwks-host keys.example.org -o json
  a2a card verify agents.example.org --memory ~/.a2a-cards.json --require-security
  curl -s https://agents.example.org/.well-known/agent-card.json | a2a card verify - --key signer.public.json

Profiles: by default a signature must be as the specification says (§8.4). Signatures by js-1 (the JavaScript SDK, and
the Python SDK from 1.1.4 on), python-1 (the Python SDK up to 1.1.3) or raw (the JSON as it stands) may cover less than
the whole card: the verdict lists what they leave out.`;

const signExamples = `
Serve exactly the bytes that this command prints or writes. They have no line feed at the end (except at a terminal). Then
verifiers that hash the bytes agree with verifiers that parse the card; the ETag of a2a serve is the SHA-256 of these bytes.
The new signature replaces an earlier one by the same key. Warnings name the fields that older verifiers would leave
unprotected; --legacy python-1 adds a2a-sdk of Python up to 1.1.3, which serializes most cards differently.

Examples:
  a2a card sign card.json --key a2a-signing-key.json > signed.json
  a2a card sign card.json --key a2a-signing-key.json --in-place --jku https://agents.example.org/.well-known/jwks.json
  a2a card sign card.json --key old.json | a2a card sign - --key new.json     two signatures, while keys are rotated`;

const canonicalExamples = `
The canonical form is RFC 8785 over the card without its signatures and fields without effect (spec §8.4.1). a2a prints
nothing else: no line feed at the end, with or without -o json. At a terminal, a2a escapes control characters. To compare
with the ETag of a2a serve, hash what card sign prints: the ETag includes the signatures.

Examples:
  a2a card canonical card.json | sha256sum
  diff <(a2a card canonical before.json) <(a2a card canonical agents.example.org)`;

const forgetExamples = `
Use this only if the agent's operator has told you, through a separate channel, that the agent's keys have changed or that
its card asks for less security than before. The memory then forgets the agent, and treats its next card as its first.

Examples:
  a2a card forget https://agents.example.org --memory ~/.a2a-cards.json`;
