import { a2aError } from "@a2a-connect/core";
import {
  extensionsHeader,
  extensionsKey,
  formatExtensions,
  readExtensions,
} from "@a2a-connect/core/internal";
import type { AgentExtension } from "@a2a-connect/proto";
import type { Gate } from "./gate.ts";
import { queryOf } from "./version-gate.ts";

/** Extensions as a card declares them. */
type Declared = readonly Pick<AgentExtension, "uri" | "required">[];

/**
 * Activates the extensions that the caller asks for and the card declares, echoes them, and refuses calls that lack a
 * required one (spec §3.3.4, §4.6; requirements G-2 to G-5). It ignores unknown ones.
 *
 * @param declaredNow returns what the card declares: the same array until that changes
 */
export function extensionGate(declaredNow: () => Declared): Gate {
  let rules = toRules(declaredNow());
  return ({ context }) => {
    const declared = declaredNow();
    if (rules.declared !== declared) {
      rules = toRules(declared);
    }
    const { known, required } = rules;
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

function toRules(declared: Declared): {
  readonly declared: Declared;
  readonly known: ReadonlySet<string>;
  readonly required: readonly string[];
} {
  return {
    declared,
    known: new Set(declared.map(({ uri }) => uri)),
    required: declared.filter((extension) => extension.required).map(({ uri }) => uri),
  };
}
