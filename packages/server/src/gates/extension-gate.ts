import {
  a2aError,
  extensionsHeader,
  extensionsKey,
  formatExtensions,
  readExtensions,
} from "@a2a-connect/core";
import type { AgentExtension } from "@a2a-connect/proto";
import type { Gate } from "./gate.ts";
import { queryOf } from "./version-gate.ts";

/**
 * Activates the extensions that the caller asks for and the card declares, echoes them, and refuses calls that lack a
 * required one (spec §3.3.4, §4.6; requirements G-2 to G-5). Unknown ones are ignored.
 */
export function extensionGate(declared: readonly Pick<AgentExtension, "uri" | "required">[]): Gate {
  const required = declared.filter((extension) => extension.required).map(({ uri }) => uri);
  const known = new Set(declared.map(({ uri }) => uri));
  return ({ context }) => {
    const active = readExtensions(context.requestHeader, queryOf(context)).filter((uri) => known.has(uri));
    const missing = required.filter((uri) => !active.includes(uri));
    if (missing.length > 0) {
      throw a2aError(
        "EXTENSION_SUPPORT_REQUIRED",
        `this agent requires extensions: send the header "${extensionsHeader}: ${missing.join(",")}"`,
        { requiredExtensions: missing.join(",") },
      );
    }
    context.values.set(extensionsKey, active);
    const echo = formatExtensions(active);
    if (echo !== undefined) {
      context.responseHeader.set(extensionsHeader, echo);
    }
  };
}
