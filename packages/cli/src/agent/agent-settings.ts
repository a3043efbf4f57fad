import type { LegacyProfile } from "@a2a-connect/signing/internal";
import type { AgentEntry } from "../settings/book.ts";
import { isOwn } from "../settings/provenance.ts";
import type { ResolvedSettings, Settings } from "../settings/resolve.ts";
import { parseBinding } from "../settings/values.ts";

/** Settings for one agent, with what `a2a.config.yaml` says about it. */
export interface AgentSettings extends Settings {
  /** The only binding to be used. */
  readonly pinBinding: string | undefined;
  /** Range of the card's own version. */
  readonly cardVersion: string | undefined;
  /** How the card may have been signed, beside the specification's way. */
  readonly cardProfiles: readonly LegacyProfile[];
}

/**
 * What `a2a.config.yaml` says about a named agent comes after flags and before everything that is said of all agents:
 * environment and `.env` files. The key of its card is the user's own, where he has named one: a file that was found does not
 * choose whom to trust in his place. An agent with credentials of its own gets no others.
 */
export function resolveAgentSettings(
  resolved: ResolvedSettings,
  entry: AgentEntry | undefined,
): AgentSettings {
  const { settings } = resolved;
  if (entry === undefined) {
    return { ...settings, pinBinding: undefined, cardVersion: undefined, cardProfiles: [] };
  }
  const own = ownSettings(resolved, entry);
  const binding = own.transport;
  return {
    ...settings,
    a2aVersion: own["a2a-version"] ?? settings.a2aVersion,
    transports: binding === undefined ? settings.transports : [],
    pinBinding: binding === undefined ? undefined : (parseBinding(binding) ?? binding),
    cardVersion: entry.cardVersion,
    cardKey: own["card-key"] ?? settings.cardKey,
    // They say how the file's key has signed; a key of the user's own is not made to accept more by a file.
    cardProfiles: own["card-key"] === undefined ? [] : entry.cardProfiles,
    bearer: "bearer" in own ? own.bearer : settings.bearer,
    apiKey: "api-key" in own ? own["api-key"] : settings.apiKey,
    serviceParameters: { ...lowerCaseNames(entry.headers), ...settings.serviceParameters },
  };
}

/** Options that the file decides alone, by their flag; one that it takes away is there and undefined. */
export interface OwnSettings {
  readonly transport?: string;
  readonly "a2a-version"?: string;
  readonly "card-key"?: string;
  readonly bearer?: string | undefined;
  readonly "api-key"?: string | undefined;
}

/** What `a2a.config.yaml` says about an agent where no flag says something else. */
export function ownSettings({ origins }: Pick<ResolvedSettings, "origins">, entry: AgentEntry): OwnSettings {
  const { binding, protocolVersion, cardKey, bearer, apiKey } = entry;
  const isFlag = (flag: keyof OwnSettings): boolean => origins.get(flag)?.source === "flag";
  const isOurs = (flag: keyof OwnSettings): boolean => isOwn(origins.get(flag)?.source ?? "built-in");
  const hasOwn = bearer !== undefined || apiKey !== undefined;
  return {
    ...(binding === undefined || isFlag("transport") ? {} : { transport: binding }),
    ...(protocolVersion === undefined || isFlag("a2a-version") ? {} : { "a2a-version": protocolVersion }),
    ...(cardKey === undefined || isOurs("card-key") ? {} : { "card-key": cardKey }),
    ...(!hasOwn || isFlag("bearer") ? {} : { bearer }),
    ...(!hasOwn || isFlag("api-key") ? {} : { "api-key": apiKey }),
  };
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
