import { readFileSync } from "node:fs";
import { type Wire, wires } from "@a2a-connect/testing";

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

/** A requirement that nothing tests yet, and why. */
export interface Gap {
  readonly id: string;
  /** Default: everywhere that the requirement applies. */
  readonly places?: readonly Place[];
  readonly reason: string;
}

/** Requirements A to N and R, and of O to Q those that bind clients, in order (requirements.json). */
export const requirements: readonly Requirement[] = readRows<RequirementRow>("requirements.json").map(
  ({ wires: on, ...row }) => ({ ...row, places: on === "all" ? wires : on }),
);

/** What is known not to be tested (gaps.json). */
export const gaps: readonly Gap[] = readRows<Gap>("gaps.json");

/** The requirement with that id. @throws Error when there is none */
export function getRequirement(id: string): Requirement {
  const found = byId.get(id);
  if (found === undefined) {
    throw new Error(`there is no requirement ${id}: see requirements.json`);
  }
  return found;
}

const byId = new Map(requirements.map((requirement) => [requirement.id, requirement]));

function readRows<Row>(file: string): readonly Row[] {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as Row[]; // coverage.test.ts looks at every row
}
