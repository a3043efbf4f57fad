import type { CliIo } from "./cli-io.ts";
import type { RunOutput } from "./output/create-output.ts";
import type { Settings } from "./settings/settings.ts";

/** One run of the command: what its action leaves behind for `runCli`. */
export class CommandRun {
  readonly io: CliIo;
  /** What the user typed, without the command itself. */
  readonly argv: readonly string[];
  /** Set as soon as they are known. */
  settings: Settings | undefined;
  output: RunOutput | undefined;
  /** What the action asked for. */
  exitCode: number | undefined;
  /** Whether output that nobody reads to its end makes the command fail. */
  needsReader = false;
  /** Aborted when `--timeout` has expired, with the error to report. */
  timeout: AbortSignal | undefined;

  constructor(argv: readonly string[], io: CliIo) {
    this.argv = argv;
    this.io = io;
  }
}
