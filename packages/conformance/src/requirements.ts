import { type Wire, wires } from "./platform.ts";
import rows from "./requirements.json" with { type: "json" };

/** The two published texts of A2A 1.0. They have the same messages, and differ in a few error numbers and in a media type. */
export const specVersions = ["1.0.0", "1.0.1"] as const;

/** One of them. */
export type SpecVersion = (typeof specVersions)[number];

/** Where a requirement can be seen: on a wire, or in the public card, which is plain HTTP. */
export type Place = Wire | "card";

/** One demand of the protocol, in our own words. The ids are ours, and are cited in tests and comments everywhere. */
export interface Requirement {
  readonly id: string;
  /** As the specification says it; AMBIG where it contradicts itself, IMPL and NOTE where it is silent. */
  readonly level: "MUST" | "SHOULD" | "MAY" | "AMBIG" | "IMPL" | "NOTE";
  /** Set when it binds clients and not servers. */
  readonly of?: "client";
  /** Sections of the specification; `proto`, `guide` and the like for what it does not say itself; empty: our ruling. */
  readonly source: readonly string[];
  readonly sentence: string;
  readonly places: readonly Place[];
}

interface RequirementRow extends Omit<Requirement, "places"> {
  readonly wires: "all" | readonly Place[];
}

/** What each letter of the ids is about. */
export const requirementGroups: Readonly<Record<string, string>> = {
  A: "Operations",
  B: "States",
  C: "History",
  D: "Context and task ids",
  E: "Errors",
  F: "Versions",
  G: "Extensions",
  H: "JSON",
  I: "JSON-RPC",
  J: "gRPC",
  K: "HTTP+JSON",
  L: "Agent card",
  M: "Signatures of cards",
  N: "Push notifications",
  O: "Authentication",
  P: "Tenants, as far as they bind clients",
  Q: "Older dialects",
  R: "A2A 1.1, a draft",
};

/** Requirements A to N and R, and of O to Q those that bind clients, in order (requirements.json). */
export const requirements: readonly Requirement[] = (rows as readonly RequirementRow[]).map(
  ({ wires: on, ...row }) => ({ ...row, places: on === "all" ? wires : on }),
);

/** The requirement with that id. @throws Error when there is none */
export function getRequirement(id: string): Requirement {
  const found = byId.get(id);
  if (found === undefined) {
    throw new Error(`there is no requirement ${id}: see requirements.json`);
  }
  return found;
}

/** Whether the specification demands it, as it stands or by our reading of a contradiction. */
export function isBinding({ level }: Requirement): boolean {
  return level === "MUST" || level === "AMBIG";
}

const byId = new Map(requirements.map((requirement) => [requirement.id, requirement]));
