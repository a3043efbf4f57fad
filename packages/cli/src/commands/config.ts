import type { Command } from "commander";
import { type AddCommand, readGivenFlags } from "../command.ts";
import type { CommandContext } from "../context.ts";
import type { SettingSource } from "../settings/provenance.ts";
import { formatRawValue, maskRawValue, resolveSettings, type SettingOrigin } from "../settings/resolve.ts";

/** `a2a config show`: every setting, and where it is from (a2a-cli §8.3). */
export const addConfig: AddCommand = (program, setAction) => {
  const config = program.command("config").description("Look at the configuration");
  const show = config
    .command("show")
    .description("Show every setting and where its value is from; credentials are masked");
  setAction(show, async () => showConfig);
};

async function showConfig({ io, output }: CommandContext, _flags: object, command: Command): Promise<void> {
  const { findAgentOrigins } = await import("../agent/agent-origins.ts");
  const resolved = resolveSettings(readGivenFlags(command), io);
  const { origins, files, profiles, warning } = await findAgentOrigins(resolved, io);
  if (warning !== undefined) await output.warn(warning);
  for (const [flag, { option, value, ...origin }] of origins) {
    await output.field(flag, `${formatRawValue(option, value)} (${describeSource(origin)})`);
  }
  await output.field("profiles", profiles && `${profiles.value.join(", ")} (file ${profiles.where})`);
  for (const file of files) await output.field("file", file);
  const settings = [...origins].map(([flag, { option, source, where, value }]) => [
    flag,
    {
      value: maskRawValue(option, value) ?? null,
      source: nameSource(source),
      ...(source === "built-in" ? { default: where } : { where }),
    },
  ]);
  await output.document({
    settings: Object.fromEntries(settings),
    ...(profiles === undefined
      ? {}
      : { profiles: { value: profiles.value, source: "file", where: profiles.where } }),
    files,
  });
}

function describeSource({ source, where }: Pick<SettingOrigin, "source" | "where">): string {
  return source === "built-in" ? "built in" : `${nameSource(source)} ${where}`;
}

/** A file is a file, whether it was named or found: its path says which. */
function nameSource(source: SettingSource): string {
  return source.startsWith("found-") ? "file" : source;
}
