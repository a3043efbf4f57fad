import { createPrivateKey } from "node:crypto";
import { resolve } from "node:path";
import { generateSigningKey, type SignatureAlgorithm, thumbprintOf } from "@a2a-connect/signing";
import type { CommandContext } from "../command-context.ts";
import { formatJsonDocument } from "../output/plain-text.ts";
import { requireAbsent, writeNewFile } from "./write-file.ts";

/** The options of `keys new`. */
export interface NewKeysFlags {
  readonly alg?: SignatureAlgorithm;
  readonly kid?: string;
  readonly out?: string;
  readonly pem?: boolean;
  readonly force?: boolean;
}

/**
 * Makes a key pair, and writes both sides of it to files. The private key is printed only when it is asked for by `--out -`.
 *
 * @throws CliError USAGE when a file is there, or cannot be written
 */
export async function newKeys({ io, output }: CommandContext, flags: NewKeysFlags): Promise<void> {
  const { alg = "ES256", kid, pem = false, force = false } = flags;
  const file = flags.out ?? `a2a-signing-key.${pem ? "pem" : "json"}`;
  const publicFile = publicName(file);
  const paths = [file, publicFile].map((name) => resolve(io.cwd, name));
  const [privatePath = "", publicPath = ""] = paths;
  if (file !== "-" && !force) await requireAbsent(paths);
  const { privateJwk, publicJwk } = await generateSigningKey({ alg, ...(kid === undefined ? {} : { kid }) });
  const text = pem
    ? String(
        createPrivateKey({ key: { ...privateJwk }, format: "jwk" }).export({ type: "pkcs8", format: "pem" }),
      )
    : `${formatJsonDocument(privateJwk, false)}\n`;
  if (file === "-") return await io.stdout.write(text);
  await writeNewFile(privatePath, text, { access: "private", force });
  await writeNewFile(publicPath, `${formatJsonDocument(publicJwk, false)}\n`, { access: "public", force });
  await output.document({ publicKey: publicJwk, files: { private: file, public: publicFile } });
  await output.field("Key", publicJwk.kid);
  await output.field("Algorithm", alg);
  await output.field("Thumbprint", await thumbprintOf(publicJwk));
  await output.field("Private Key", `${file}, for you alone`);
  await output.field("Public Key", `${publicFile}, for whoever verifies`);
  const isNamed = pem && kid !== undefined; // and PEM does not say so
  await output.block(
    "Next steps",
    [
      "# Sign a card, and verify it",
      `a2a card sign card.json --key ${file}${isNamed ? ` --kid ${kid}` : ""} --in-place`,
      `a2a card verify card.json --key ${publicFile}`,
      ...(isNamed ? [] : ["# Serve an agent with a signed card", `a2a serve agent.ts --sign-key ${file}`]),
      "# Publish the key",
      `a2a keys public ${publicFile} > jwks.json`,
    ].join("\n"),
  );
}

/** `keys/summer.json` is `keys/summer.public.json`. */
function publicName(file: string): string {
  return `${file.replace(/\.(?:json|jwk|pem|key)$/i, "")}.public.json`;
}
