import { CardInvalidError } from "@a2a-connect/client";
import { readCard } from "@a2a-connect/client/internal";
import { findFieldViolations } from "@a2a-connect/core";
import { findMissingFields, parseMessage } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { findOlderCard, olderMembers } from "../../card/older-card.ts";
import { walkCard } from "../card-walk.ts";
import { type Finding, quote } from "../finding.ts";

/** What is wrong with the card's fields, and the card as far as it can be read. */
export interface FieldReport {
  readonly findings: readonly Finding[];
  readonly card: AgentCard | undefined;
}

/** Compares a card with what a card of 1.0 is (spec §4.4, requirements L). */
export function probeCardFields(json: unknown): FieldReport {
  const older = olderDialect(json);
  if (older !== undefined) return readOlder(older, json);
  const { missing, unknown } = walkCard(AgentCardSchema, json);
  const findings: Finding[] = [];
  if (unknown.length > 0) {
    findings.push({
      id: "card.unknown-members",
      severity: "warning",
      what: "The card has members that 1.0 does not know: most clients ignore them, strict ones refuse the card.",
      evidence: quote(unknown.join(", ")),
      fix: unknown.some((path) => olderMembers.has(path))
        ? "Take out what older versions had: it is in supportedInterfaces and securityRequirements now."
        : "Check the spelling; put what is your own into the params of an extension.",
    });
  }
  let card: AgentCard | undefined;
  const wrong: string[] = [];
  try {
    card = parseMessage(AgentCardSchema, json);
    wrong.push(
      ...findMissingFields(AgentCardSchema, card)
        .filter(({ field }) => !missing.includes(field))
        .map(say),
    );
  } catch (error) {
    wrong.push(...findFieldViolations(error).map(say));
  }
  if (missing.length > 0) {
    findings.push({
      id: "card.required",
      severity: "problem",
      what: "The card lacks members that every card has: clients refuse it.",
      evidence: quote(missing.join(", ")),
      fix: "Add them; a list may be empty where the agent has nothing to put into it, but supportedInterfaces may not.",
    });
  }
  if (wrong.length > 0) {
    findings.push({
      id: "card.values",
      severity: "problem",
      what: "The card has values that are none there: clients refuse it.",
      evidence: quote(wrong.join("; ")),
      fix: "Correct them (spec §4.4).",
    });
  }
  if (missing.length === 0 && wrong.length === 0) {
    findings.push({
      id: "card.required",
      severity: "ok",
      what: "The card has all that a card of A2A 1.0 needs.",
    });
  }
  return { findings, card };
}

/** Reads it as our client does; what it had to guess is worth a note. */
function readOlder(dialect: Finding, json: unknown): FieldReport {
  try {
    const { card, warnings } = readCard(JSON.stringify(json));
    const notes = warnings.map(
      (warning): Finding => ({ id: "card.dialect", severity: "note", what: quote(warning) }),
    );
    return { findings: [dialect, ...notes], card };
  } catch (error) {
    const evidence = error instanceof CardInvalidError ? quote(error.problems.join("; ")) : "";
    const invalid: Finding = {
      id: "card.values",
      severity: "problem",
      what: "It is no valid card of that version either.",
      evidence,
      fix: "Correct it, best in the form of 1.0.",
    };
    return { findings: [dialect, invalid], card: undefined };
  }
}

function olderDialect(json: unknown): Finding | undefined {
  const older = findOlderCard(json);
  if (older === undefined) return undefined;
  const version = older.version === "" ? "" : ` ${quote(`(${older.version})`)}`;
  return {
    id: "card.dialect",
    severity: "problem",
    what: `The card is of an older version of A2A${version}: clients of 1.0 find no interface in it.`,
    evidence: older.members.join(", "),
    fix: "Name url and transport in supportedInterfaces, with their protocolVersion; A2A's migration guide has the rest.",
  };
}

function say({ field, description }: { readonly field: string; readonly description: string }): string {
  return `${field} ${description}`;
}
