import type { LegacyProfile } from "@a2a-connect/signing/internal";
import type { RawValue, SettingFlag } from "../options.ts";
import type { AgentEntry, ClientEntry } from "../settings/book.ts";
import { isOwn } from "../settings/provenance.ts";
import { type ResolvedSettings, type SettingOrigin, type Settings, toSettings } from "../settings/resolve.ts";
import { parseBinding } from "../settings/values.ts";

/** Settings for one agent, with what `a2a.config.yaml` says about it. */
export interface AgentSettings extends Settings {
  readonly pinBinding?: string | undefined;
  /** Range of the card's own version. */
  readonly cardVersion?: string | undefined;
  /** How the card may have been signed, beside the specification's way. Default: in none other. */
  readonly cardProfiles?: readonly LegacyProfile[];
  readonly client?: ClientEntry | undefined;
}

/** What holds for one agent, and where each option of it is said. */
export interface ResolvedAgent extends Pick<ResolvedSettings, "origins"> {
  readonly settings: AgentSettings;
}

/**
 * What `a2a.config.yaml` says about a named agent comes after flags and before everything that is said of all agents:
 * environment and `.env` files. The key of its card is the user's own, where he has named one: a file that was found does not
 * choose whom to trust in his place. An agent with credentials of its own gets no others.
 */
export function resolveAgent(
  { settings, origins }: Pick<ResolvedSettings, "settings" | "origins">,
  entry: AgentEntry | undefined,
): ResolvedAgent {
  if (entry === undefined) return { settings, origins };
  const { binding, protocolVersion, key, bearer, apiKey, client, headers = {} } = entry;
  const said = new Map(origins);
  const say = (flag: SettingFlag, member: string, value: RawValue | undefined): void => {
    const origin = origins.get(flag);
    const isKept = flag === "card-key" ? isOwn(origin?.source ?? "built-in") : origin?.source === "flag";
    if (origin === undefined || isKept) return;
    said.set(flag, { ...origin, source: "found-file", where: entry.locate(member), value });
  };
  if (binding !== undefined) say("transport", "binding", binding);
  if (protocolVersion !== undefined) say("a2a-version", "protocolVersion", protocolVersion);
  if (key !== undefined) say("card-key", "key", key);
  if ((bearer ?? apiKey ?? client) !== undefined) {
    say("bearer", "auth", bearer);
    say("api-key", "auth", apiKey);
  }
  const parameters = origins.get("svc-param");
  if (parameters !== undefined && Object.keys(headers).length > 0) {
    said.set("svc-param", addHeaders(parameters, entry, settings.serviceParameters));
  }
  const isEntrys = (flag: SettingFlag): boolean => said.get(flag)?.source === "found-file";
  return {
    settings: {
      ...toSettings(said),
      pinBinding:
        binding !== undefined && isEntrys("transport") ? (parseBinding(binding) ?? binding) : undefined,
      cardVersion: entry.version,
      // They say how the file's key has signed; a key of the user's own is not made to accept more by a file.
      cardProfiles: isEntrys("card-key") ? (entry.profiles ?? []) : [],
      client: isEntrys("bearer") && isEntrys("api-key") ? client : undefined,
    },
    origins: said,
  };
}

/** Headers of an agent and service parameters of the user add up; of one name the user's wins. */
function addHeaders(
  origin: SettingOrigin,
  { headers = {}, locate }: AgentEntry,
  parameters: Readonly<Record<string, string>>,
): SettingOrigin {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const all = Object.entries({ ...Object.fromEntries(named), ...parameters });
  return {
    option: origin.option,
    source: "found-file",
    where: origin.source === "built-in" ? locate("headers") : `${locate("headers")}, ${origin.where}`,
    value: all.map(([name, value]) => `${name}:${value}`),
  };
}
