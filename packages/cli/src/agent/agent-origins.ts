import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import type { RawValue, SettingFlag } from "../options.ts";
import type { AgentEntry } from "../settings/book.ts";
import { type FoundConfig, findConfigFile } from "../settings/config-file.ts";
import type { ResolvedSettings, SettingOrigin } from "../settings/resolve.ts";
import { ownSettings, resolveAgentSettings } from "./agent-settings.ts";
import { resolveCardReference } from "./reference.ts";

/** What holds for the agent that the settings name, as far as it can be told. */
export interface AgentOrigins extends Pick<ResolvedSettings, "origins" | "files"> {
  /** How the card may have been signed, beside the specification's way, and where that is said. */
  readonly profiles?: { readonly value: readonly string[]; readonly where: string };
  /** Why what `a2a.config.yaml` says is missing. */
  readonly warning?: string;
}

/** Where the file has what becomes of these options. */
const members = {
  transport: "binding",
  "a2a-version": "protocolVersion",
  "card-key": "key",
  bearer: "auth",
  "api-key": "auth",
  "svc-param": "headers",
} as const satisfies Partial<Record<SettingFlag, string>>;

/** The origins with what `a2a.config.yaml` says about the agent that they name. A broken file is a warning here. */
export async function findAgentOrigins(resolved: ResolvedSettings, io: CliIo): Promise<AgentOrigins> {
  const { settings, origins, files } = resolved;
  let found: FoundConfig | undefined;
  try {
    found = await findConfigFile(io.cwd);
    const all = found === undefined ? files : [found.path, ...files];
    if (found === undefined || settings.agentCard === undefined) return { origins, files: all };
    const reference = await resolveCardReference(settings.agentCard, io);
    const entry = reference.kind === "url" ? reference.entry : undefined;
    if (entry === undefined) return { origins, files: all };
    const profiles = { value: entry.cardProfiles, where: found.locate(["agents", entry.name, "profiles"]) };
    return {
      origins: overlay(resolved, entry, found),
      files: all,
      ...(entry.cardProfiles.length === 0 ? {} : { profiles }),
    };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { origins, files: found === undefined ? files : [found.path, ...files], warning: error.message };
  }
}

function overlay(
  resolved: ResolvedSettings,
  entry: AgentEntry,
  { locate }: FoundConfig,
): ReadonlyMap<SettingFlag, SettingOrigin> {
  const { origins } = resolved;
  const { serviceParameters } = resolveAgentSettings(resolved, entry);
  const own: Partial<Record<keyof typeof members, RawValue | undefined>> = {
    ...ownSettings(resolved, entry),
    // These add up.
    ...(Object.keys(entry.headers).length === 0
      ? {}
      : { "svc-param": Object.entries(serviceParameters).map(([name, value]) => `${name}:${value}`) }),
  };
  return new Map(
    [...origins].map(([flag, origin]) => {
      if (!isOwn(flag, own)) return [flag, origin];
      const line = locate(["agents", entry.name, members[flag]]);
      const where = flag === "svc-param" && origin.source !== "built-in" ? `${line}, ${origin.where}` : line;
      return [flag, { option: origin.option, source: "found-file", where, value: own[flag] }];
    }),
  );
}

function isOwn(flag: SettingFlag, own: object): flag is keyof typeof members {
  return Object.hasOwn(own, flag);
}
