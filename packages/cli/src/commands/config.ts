import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { type AddCommand, readGivenFlags } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import type { AgentEntry } from "../settings/book.ts";
import type { SettingSource } from "../settings/provenance.ts";
import { formatRawValue, maskRawValue, type ResolvedSettings, resolveSettings } from "../settings/resolve.ts";

/** `a2a config show`: every setting, and where it is from (a2a-cli §8.3). */
export const addConfig: AddCommand = (program, setAction) => {
  const config = program.command("config").description("Look at the configuration");
  const show = config
    .command("show")
    .description("Show every setting and where its value comes from; credentials are masked");
  setAction(show, async () => showConfig);
};

/** `a2a use`: the agent that commands mean when none is named. */
export const addUse: AddCommand = (program, setAction) => {
  const use = program
    .command("use")
    .description("Choose the agent that commands talk to when you name none")
    .argument("[agent]", "host, URL, card file or name in a2a.config.yaml (default: show the one in use)")
    .option("--unset", "choose no agent");
  setAction(use, async () => (await import("../settings/use-agent.ts")).useAgent, "local");
};

async function showConfig(context: CommandContext, _flags: object, command: Command): Promise<void> {
  const { io, output } = context;
  const resolved = resolveSettings(readGivenFlags(command), io);
  const { origins, entry, file } = await findAgentOrigins(context, resolved);
  for (const [flag, { option, value, source, where }] of origins) {
    const said = source === "built-in" ? "built in" : `${nameSource(source)} ${where}`;
    await output.field(flag, `${formatRawValue(option, value)} (${said})`);
  }
  const { profiles: value = [], locate = () => "" } = entry ?? {};
  const profiles = value.length === 0 ? undefined : { value, source: "file", where: locate("profiles") };
  const files = file === undefined ? resolved.files : [file, ...resolved.files];
  await output.fields({
    profiles: profiles && `${profiles.value.join(", ")} (file ${profiles.where})`,
    file: files,
  });
  const settings = [...origins].map(([flag, { option, source, where, value }]) => [
    flag,
    {
      value: maskRawValue(option, value) ?? null,
      source: nameSource(source),
      ...(source === "built-in" ? { default: where } : { where }),
    },
  ]);
  await output.document({ settings: Object.fromEntries(settings), ...defined({ profiles }), files });
}

/** A file is a file, whether it was named or found: its path says which. */
function nameSource(source: SettingSource): string {
  return source.startsWith("found-") ? "file" : source;
}

/** What holds for the agent that the settings name, as far as it can be told; the `a2a.config.yaml` that was found. */
async function findAgentOrigins(
  context: CommandContext,
  { origins }: Pick<ResolvedSettings, "origins">,
): Promise<Pick<ResolvedSettings, "origins"> & { readonly entry?: AgentEntry; readonly file?: string }> {
  const { io, output, settings } = context;
  const { findConfigFile } = await import("../settings/config-file.ts");
  let file: string | undefined;
  try {
    file = (await findConfigFile(io.cwd))?.path;
    if (file === undefined || settings.agentCard === undefined) return { origins, ...defined({ file }) };
    const agent = await context.locate(undefined);
    const entry = agent.reference.kind === "url" ? agent.reference.entry : undefined;
    return { origins: agent.origins, file, ...defined({ entry }) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await output.warn(error.message);
    return { origins, ...defined({ file }) };
  }
}
