import type { AgentEntry } from "../settings/agent-book.ts";
import { parseBinding } from "../settings/bindings.ts";
import type { ResolvedSettings } from "../settings/resolve-settings.ts";
import type { Settings } from "../settings/settings.ts";

/** Settings for one agent, with what `a2a.config.yaml` says about it. */
export interface AgentSettings extends Settings {
  /** The only binding to be used. */
  readonly pinBinding: string | undefined;
  /** Range of the card's own version. */
  readonly cardVersion: string | undefined;
}

/**
 * What `a2a.config.yaml` says about a named agent comes after flags and before everything that is said of all agents:
 * environment and `.env` files. An agent with credentials of its own gets no others.
 */
export function resolveAgentSettings(
  { settings, origins }: ResolvedSettings,
  entry: AgentEntry | undefined,
): AgentSettings {
  if (entry === undefined) {
    return { ...settings, pinBinding: undefined, cardVersion: undefined };
  }
  const isFlag = (flag: "transport" | "a2a-version" | "bearer" | "api-key"): boolean =>
    origins.get(flag)?.source === "flag";
  const hasOwn = entry.bearer !== undefined || entry.apiKey !== undefined;
  const binding = isFlag("transport") || entry.binding === undefined ? undefined : entry.binding;
  return {
    ...settings,
    a2aVersion: isFlag("a2a-version") ? settings.a2aVersion : (entry.protocolVersion ?? settings.a2aVersion),
    transports: binding === undefined ? settings.transports : [],
    pinBinding: binding === undefined ? undefined : (parseBinding(binding) ?? binding),
    cardVersion: entry.cardVersion,
    bearer: hasOwn && !isFlag("bearer") ? entry.bearer : settings.bearer,
    apiKey: hasOwn && !isFlag("api-key") ? entry.apiKey : settings.apiKey,
    serviceParameters: { ...lowerCaseNames(entry.headers), ...settings.serviceParameters },
  };
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
