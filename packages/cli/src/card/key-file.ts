import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { readCardFile } from "../agent/read-card-file.ts";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { isInlineKey } from "../settings/inline-key.ts";
import { readObject } from "./loose-json.ts";

/**
 * Sees to it that what is written does not take the place of the key, by whatever name: there may be no other copy.
 *
 * @throws CliError USAGE
 */
export async function requireOtherFile(
  target: string,
  key: string,
  { cwd }: Pick<CliIo, "cwd">,
): Promise<void> {
  if (isInlineKey(key) || key === "-") return;
  const [one, other] = await Promise.all(
    [target, key].map((file) => stat(resolve(cwd, file), { bigint: true }).catch(() => undefined)),
  );
  if (one === undefined || one.dev !== other?.dev || one.ino !== other.ino || !one.isFile()) return;
  throw new CliError("A2ACLI_ERR_USAGE", `${target} is the key itself, and the card would take its place`, {
    hint: "name another file; - is the standard output",
  });
}

/**
 * Sees to it that a card takes the place of cards alone: of anything else, such as another private key, there may be no other
 * copy. An empty file, and what is no file, such as a pipe or a device, has nothing to lose.
 *
 * @throws CliError USAGE for a file that is there and is no card, or cannot be read
 */
export async function requireCardFile(target: string, { cwd }: Pick<CliIo, "cwd">): Promise<void> {
  const path = resolve(cwd, target);
  const there = await stat(path).catch(() => undefined);
  if (there?.isFile() !== true || there.size === 0) return;
  if (looksLikeCard(await readCardFile(path).catch(() => ""))) return;
  throw new CliError(
    "A2ACLI_ERR_USAGE",
    `${target} is there already and is no card that can be read; nothing was written`,
    {
      hint: "choose another file with --out; --force overwrites, and what was signed with a lost key cannot be signed by it again",
    },
  );
}

/** Cards that are older, or not finished, are cards as well. */
function looksLikeCard(text: string): boolean {
  const json = readObject(text);
  return ("supportedInterfaces" in json || "name" in json) && !("kty" in json || "keys" in json);
}
