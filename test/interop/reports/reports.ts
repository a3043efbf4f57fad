import go from "./a2a-go-sdk.json" with { type: "json" };
import js from "./a2a-js-sdk.json" with { type: "json" };
import python from "./a2a-python-sdk.json" with { type: "json" };

/** A scenario of `a2a conformance` that a server fails, and that was checked by hand: the server deviates, and not the scenario. */
export interface Deviation {
  /** The requirements that the scenario cites. */
  readonly ids: readonly string[];
  /** What the server would have to do. */
  readonly title: string;
  /** Wires, or the card. */
  readonly places: readonly string[];
  /** Whether it depends on which of two calls comes first: some runs see it, and others do not. */
  readonly sometimes?: boolean;
  /** What was said, and the failure: pieces of it in their order, with ` … ` for what is left out. */
  readonly evidence: string;
  /** Why it is a deviation, with the requirement that says so. */
  readonly because: string;
}

/** The servers of the official SDKs, and all that `a2a conformance` finds in each. */
export const reports = {
  "a2a-js-sdk": js,
  "a2a-python-sdk": python,
  "a2a-go-sdk": go,
} as const satisfies Readonly<Record<string, readonly Deviation[]>>;

/** The pieces of some evidence. */
export function piecesOf({ evidence }: Pick<Deviation, "evidence">): readonly string[] {
  return evidence.split(" … ");
}
