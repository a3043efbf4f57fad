import type { Place, Requirement } from "@a2a-connect/conformance";

/** A requirement that nothing tests yet, and why (gaps.json). */
export interface Gap {
  readonly id: string;
  /** Default: everywhere that the requirement applies. */
  readonly places?: readonly Place[];
  readonly reason: string;
}

/** What coverage is read from: scenarios of servers or of the client. */
export interface CitingGroup {
  readonly scenarios: readonly { readonly ids: readonly string[]; readonly places: readonly Place[] }[];
}

/** What is tested of one requirement. */
export interface Coverage {
  readonly requirement: Requirement;
  /** How many scenarios cite it, by the file that they are in: its path in this directory, without the extension. */
  readonly files: ReadonlyMap<string, number>;
  /** Where a scenario shows it, among the places that it applies to. */
  readonly tested: readonly Place[];
  /** Where it applies and nothing shows it. */
  readonly untested: readonly Place[];
  readonly gap: Gap | undefined;
}

/** Puts requirements, scenarios (by file) and gaps together; one entry for each requirement. */
export function readCoverage(
  requirements: readonly Requirement[],
  groups: Readonly<Record<string, CitingGroup>>,
  gaps: readonly Gap[],
): readonly Coverage[] {
  return requirements.map((requirement) => {
    const files = new Map<string, number>();
    const seen = new Set<Place>();
    for (const [file, { scenarios }] of Object.entries(groups)) {
      const citing = scenarios.filter(({ ids }) => ids.includes(requirement.id));
      if (citing.length > 0) {
        files.set(file, citing.length);
      }
      for (const place of citing.flatMap(({ places }) => places)) {
        seen.add(place);
      }
    }
    return {
      requirement,
      files,
      tested: requirement.places.filter((place) => seen.has(place)),
      untested: requirement.places.filter((place) => !seen.has(place)),
      gap: gaps.find(({ id }) => id === requirement.id),
    };
  });
}

/** Sentences about whatever is neither tested nor a known gap, and about gaps that are none; empty when all is well. */
export function findFaults(coverage: readonly Coverage[], gaps: readonly Gap[]): readonly string[] {
  const known = new Set(coverage.map(({ requirement }) => requirement.id));
  const named = new Set<string>();
  const faults = gaps.flatMap(({ id, reason }) => {
    const twice = named.has(id);
    named.add(id);
    return [
      ...(known.has(id) ? [] : [`gaps.json: there is no requirement ${id}`]),
      ...(twice ? [`gaps.json: ${id} is there twice`] : []),
      ...(/\w{3}/.test(reason) ? [] : [`gaps.json: ${id} gives no reason`]),
    ];
  });
  return [...faults, ...coverage.flatMap(findFault)];
}

function findFault({ requirement: { id, level, places }, tested, untested, gap }: Coverage): string[] {
  const excused = new Set(gap === undefined ? [] : (gap.places ?? places));
  const open = untested.filter((place) => !excused.has(place));
  const closed = tested.filter((place) => excused.has(place));
  return [
    ...(open.length === 0 ? [] : [`${id} (${level}) is neither tested nor a gap on ${open.join(", ")}`]),
    ...(closed.length === 0 ? [] : [`gaps.json: ${id} is tested on ${closed.join(", ")}: that is no gap`]),
  ];
}
