import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { isInlineKey } from "../settings/inline-key.ts";

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
