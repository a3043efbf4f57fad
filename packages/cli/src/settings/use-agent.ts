import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { environmentName } from "../options.ts";
import { replaceFile } from "../write-file.ts";

const variable = environmentName("agent-card");
const isLine = (line: string): boolean => new RegExp(`^\\s*(?:export\\s+)?${variable}\\s*=`).test(line);

/** Makes an agent the one that commands mean without `--agent-card`, by a line of `~/.config/a2a-cli/.env`; without one, shows it. */
export async function useAgent(
  { io, output, settings }: CommandContext,
  reference: string | undefined,
  { unset = false }: { readonly unset?: boolean },
): Promise<void> {
  const file = join(io.home, ".config", "a2a-cli", ".env");
  if (reference === undefined && !unset) {
    await output.document({ agent: settings.agentCard ?? null });
    if (settings.agentCard === undefined) await output.note("no agent is in use; a2a use AGENT chooses one");
    return await output.field("Agent", settings.agentCard);
  }
  if (/["\n\r]/.test(reference ?? "")) throw usageError("an agent is a host, a URL, a file or a name");
  const before = await readFile(file, "utf8").catch(() => "");
  const lines = before.split("\n").filter((line) => line !== "" && !isLine(line));
  if (!unset) lines.push(`${variable}="${reference}"`);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replaceFile(file, lines.map((line) => `${line}\n`).join(""), io, 0o600);
  await output.document({ agent: unset ? null : (reference ?? null) });
  await output.field("Agent", unset ? "none" : reference);
  await output.note(`written to ${file}; --agent-card, the environment and a project's .env take precedence`);
}
