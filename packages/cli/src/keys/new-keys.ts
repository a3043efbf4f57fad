import { createPrivateKey } from "node:crypto";
import { generateSigningKey, thumbprintOf } from "@a2a-connect/signing";
import type { GenerateKeyOptions, SignatureAlgorithm } from "@a2a-connect/signing/internal";
import { quote } from "../commands-to-copy.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { formatJsonDocument } from "../output.ts";
import { requireAbsent, writeNewFile } from "../write-file.ts";
import { refusedAsUsage } from "./key-file.ts";

interface NewKeysFlags extends GenerateKeyOptions {
  readonly out?: string;
  readonly pem?: boolean;
  readonly force?: boolean;
}

/** Makes a key pair, and writes both sides of it to files. The private key is printed only when it is asked for by `--out -`. */
export async function newKeys(
  { io, output, needReader }: CommandContext,
  flags: NewKeysFlags,
): Promise<void> {
  needReader(); // a private key that was printed to a closed pipe is lost
  const { alg = "ES256", kid, pem = false, force = false } = flags;
  const file = flags.out ?? `a2a-signing-key.${pem ? "pem" : "json"}`;
  const publicFile = publicName(file);
  if (file !== "-" && !force) requireAbsent([file, publicFile], io);
  const { privateJwk, publicJwk } = await refusedAsUsage(() =>
    generateSigningKey({ alg, ...defined({ kid }) }),
  );
  const exportPem = () => createPrivateKey({ key: { ...privateJwk }, format: "jwk" });
  const text = pem
    ? String(exportPem().export({ type: "pkcs8", format: "pem" }))
    : `${formatJsonDocument(privateJwk, false)}\n`;
  if (file === "-") return await io.stdout.write(text);
  await writeNewFile(file, text, io, { mode: 0o600, force });
  const publicText = `${formatJsonDocument(publicJwk, false)}\n`;
  await writeNewFile(publicFile, publicText, io, { mode: 0o644, force });
  await output.document({ publicKey: publicJwk, files: { private: file, public: publicFile } });
  await output.fields({
    Key: publicJwk.kid,
    Algorithm: alg,
    Thumbprint: await thumbprintOf(publicJwk),
    "Private Key": `${file} (keep it secret)`,
    "Public Key": `${publicFile} (for verifiers)`,
  });
  const unsaid = pem ? unsaidFlags(alg, kid) : [];
  await output.block("Next steps", nextSteps(file, publicFile, unsaid).join("\n"));
}

/** What PEM does not say of a key, and `a2a` does not guess: an RSA key counts as one for RS256. */
function unsaidFlags(alg: SignatureAlgorithm, kid: string | undefined): readonly string[] {
  const isGuessed = alg !== "PS256" && alg !== "Ed25519";
  return [...(isGuessed ? [] : ["--alg", alg]), ...(kid === undefined ? [] : ["--kid", kid])];
}

function nextSteps(file: string, publicFile: string, unsaid: readonly string[]): readonly string[] {
  const command = (...words: readonly string[]) => ["a2a", ...words.map(quote)].join(" ");
  return [
    "# Sign a card, and verify it",
    command("card", "sign", "card.json", "--key", file, ...unsaid, "--in-place"),
    command("card", "verify", "card.json", "--key", publicFile),
    ...(unsaid.length === 0
      ? [
          "# Or serve an agent with a signed card and its key set",
          command("serve", "agent.ts", "--sign-key", file),
        ]
      : ["# To use the key with a2a serve, make it without --pem"]),
    "# If you serve the card yourself, publish this key set, and sign with --jku URL so that verifiers find it",
    `${command("keys", "public", publicFile)} > jwks.json`,
  ];
}

/** `keys/summer.json` is `keys/summer.public.json`. */
function publicName(file: string): string {
  return `${file.replace(/\.(?:json|jwk|pem|key)$/i, "")}.public.json`;
}
