import type { Readable } from "node:stream";

/** Where text goes, in order. */
export interface TextSink {
  /** Resolves when it was taken. @throws LostOutputError (as a rejection) when it is not, from then on always */
  write(text: string): Promise<void>;
  readonly isTerminal: boolean;
}

/** Everything the command touches of its process, so that tests can stand in for it. */
export interface CliIo {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Where the global configuration is: `$HOME`. */
  readonly home: string;
  /**
   * Aborted by the first Ctrl-C: commands detach, say how to go on, and end. The second one kills, and so does the clock
   * after a while.
   */
  readonly interrupted: AbortSignal;
}
