import type { AimVerdict } from "./report/aim.ts";
import type { Table } from "./report/table.ts";
import type { BenchServer, Side, StartOptions } from "./servers/start-server.ts";

/** What a scenario is run with. */
export interface BenchContext {
  /** Shorter stretches and smaller numbers: to see that everything works, not to be quoted. */
  readonly quick: boolean;
  /** Starts a server of the given side, as the command line wants it. */
  start(side: Side, options?: Omit<StartOptions, "profileDirectory">): Promise<BenchServer>;
  /** A word about progress. */
  progress(line: string): void;
}

/** What a scenario gives. */
export interface ScenarioResult {
  readonly table: Table;
  /** What the figures are held against; empty where there is no aim. */
  readonly aims: readonly AimVerdict[];
  /** The figures themselves, for `--json`. */
  readonly measurements: readonly object[];
}

/** One subject of the bench. */
export interface Scenario {
  readonly name: string;
  /** What is measured, in one sentence. */
  readonly summary: string;
  run(context: BenchContext): Promise<ScenarioResult>;
}
