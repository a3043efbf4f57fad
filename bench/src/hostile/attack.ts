import type { Target } from "../servers/control.ts";

/** Something that one caller does to a server at the cost of the others. */
export interface Attack {
  readonly name: string;
  /** What our server has to do; undefined where there is no answer to look at. */
  readonly expected: "taken" | "refused" | undefined;
  /** Makes what is sent, before anything is measured. What it returns sends it, and resolves with what the server did. */
  prepare(): (target: Target) => Promise<Attack["expected"]>;
}

/** Attacks on one server, one after the other. */
export interface AttackGroup {
  readonly wire: string;
  /** Whether the peer can be attacked so, too. */
  readonly shared: boolean;
  readonly attacks: readonly Attack[];
  /** What the server has to hold before the first attack. */
  fill?(target: Target): Promise<void>;
}
