import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentCardSchema } from "@a2a-connect/proto";
import { canonicalCard, signCardText } from "@a2a-connect/signing";
import { assertKeySetUrl, type LegacyProfile, type SignatureAlgorithm } from "@a2a-connect/signing/internal";
import { readCardInput } from "../agent/reference.ts";
import { usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { quote } from "../commands-to-copy.ts";
import type { CommandContext } from "../context.ts";
import { defined, readObject } from "../json.ts";
import { refusedAsUsage } from "../keys/key-file.ts";
import { openSigningKey } from "../keys/signing-key.ts";
import { isInlineKey } from "../settings/values.ts";
import { alreadyThere, replaceFile } from "../write-file.ts";
import { explained, textToSign, writeExactly } from "./card-source.ts";
import { readSignatureHeaders } from "./card-text.ts";

interface SignCardFlags {
  readonly key: string;
  readonly kid?: string;
  readonly alg?: SignatureAlgorithm;
  readonly jku?: string;
  readonly inPlace?: boolean;
  /** `-` is the standard output. */
  readonly out?: string;
  /** Whether `out` may be a file that is there and is no card. Default: it is refused. */
  readonly force?: boolean;
  readonly replace?: boolean;
  readonly legacy?: readonly LegacyProfile[];
}

/**
 * Signs a card, and prints or writes the bytes to be served: its canonical form with its signatures, and nothing else. At a
 * terminal, a line feed follows. Signatures of other keys stay, so that keys can be rotated.
 */
export async function signCard(context: CommandContext, file: string, flags: SignCardFlags): Promise<void> {
  const { io, output } = context;
  const { kid, alg, jku } = flags;
  const target = await checkFlags(context, file, flags);
  const { signer } = await openSigningKey(flags.key, io, defined({ kid, alg }));
  const [source, name] = file === "-" ? [io.stdin, "the standard input"] : [resolve(io.cwd, file), file];
  const text = await readCardInput(source, name, context.signal);
  const warnings: string[] = [];
  const { signed, isOfBoth } = await explained(name, async () => {
    const whole = flags.replace === true ? canonicalCard(text) : text;
    const current = textToSign(whole);
    const signed = await signCardText(current, {
      signer,
      ...defined({ jku }),
      // Most cards are written otherwise by the Python of before, and few still use it.
      legacyVerifiers: flags.legacy ?? ["js-1", "raw"],
      onWarning: (warning) => void warnings.push(warning),
    });
    return { signed, isOfBoth: current !== whole };
  });
  for (const warning of [...(await warnUnknown(signed)), ...warnings]) await output.warn(warning);
  if (isOfBoth) {
    await output.note(
      "a2a left out the card's members of A2A 0.3, because a signed card has only one version",
    );
  }
  const signatures = readSignatureHeaders(signed);
  const ids = signatures.flatMap(({ kid: id }) => id ?? []);
  const others = ids.filter((id) => id !== signer.kid).map((id) => JSON.stringify(id));
  if (others.length > 0) {
    await output.note(
      `the signatures by ${others.join(", ")} stay in the card: if the card has changed since, have these keys sign it again, or drop their signatures (--replace)`,
    );
  }
  if (target === undefined) {
    await writeExactly(io.stdout, signed);
    if (io.stdout.isTerminal) await io.stdout.write("\n");
    return await output.note(`signed by key ${signer.kid} with ${signer.alg}`);
  }
  await replaceFile(target, signed, io);
  const count = signatures.length;
  await output.fields({ File: target, Key: signer.kid, Algorithm: signer.alg, Signatures: count });
  await output.document({ file: target, kid: signer.kid, alg: signer.alg, signatures: count });
}

/** @returns the file to be written; undefined for the standard output */
async function checkFlags(
  { io }: CommandContext,
  file: string,
  { key, jku, inPlace, out, force }: SignCardFlags,
): Promise<string | undefined> {
  if (inPlace === true && file === "-") {
    throw usageError("--in-place needs a file, and - is the standard input");
  }
  if (file === "-" && key === "-") {
    throw usageError(
      "the card and the key cannot both come from the standard input",
      "put one of them into a file",
    );
  }
  if (/^https?:\/\//i.test(file)) {
    const hint = `fetch it first: a2a card get ${quote(file)} -o json > card.json`;
    throw usageError("card sign takes a file, not a URL", hint);
  }
  if (jku !== undefined) await refusedAsUsage(() => assertKeySetUrl(jku), "--jku: ");
  const target = inPlace === true ? file : out === "-" ? undefined : out;
  if (target !== undefined) await requireOtherFile(target, key, io);
  if (target !== undefined && inPlace !== true && force !== true) await requireCardFile(target, io);
  return target;
}

/** Misspelled members are signed like everything else, and clients ignore them. */
async function warnUnknown(signed: string): Promise<readonly string[]> {
  const { findDefects } = await import("@a2a-connect/conformance");
  const defects = findDefects(AgentCardSchema, JSON.parse(signed));
  const unknown = defects.flatMap(({ kind, path }) => (kind === "unknown" ? [path.slice(0, 120)] : []));
  return unknown.length === 0
    ? []
    : [
        `not in A2A 1.0: ${unknown.slice(0, 20).join(", ")}; a2a signs these members, but few clients read them`,
      ];
}

/** Makes sure that the card does not overwrite the key, under any name of its file: there may be no other copy. */
async function requireOtherFile(target: string, key: string, { cwd }: Pick<CliIo, "cwd">): Promise<void> {
  if (isInlineKey(key) || key === "-") return;
  const [one, other] = await Promise.all(
    [target, key].map((file) => stat(resolve(cwd, file), { bigint: true }).catch(() => undefined)),
  );
  if (one === undefined || one.dev !== other?.dev || one.ino !== other.ino || !one.isFile()) return;
  throw usageError(
    `${target} is the key itself, and the card would overwrite it`,
    "name another file; - is the standard output",
  );
}

/**
 * Sees to it that a card takes the place of cards alone, also of older or unfinished ones: of anything else, such as another private
 * key, there may be no other copy. An empty file, and what is no file, such as a pipe or a device, has nothing to lose.
 */
async function requireCardFile(target: string, { cwd }: Pick<CliIo, "cwd">): Promise<void> {
  const path = resolve(cwd, target);
  const there = await stat(path).catch(() => undefined);
  if (there?.isFile() !== true || there.size === 0) return;
  const json = readObject(await readCardInput(path, path).catch(() => ""));
  if (("supportedInterfaces" in json || "name" in json) && !("kty" in json || "keys" in json)) return;
  throw alreadyThere(target, "exists and is not a readable card");
}
