/** Where the lines of a chat come from. */
export interface LineSource extends Disposable {
  /** The next line, without its end; undefined when there will be none. */
  next(prompt: string): Promise<string | undefined>;
  /** Hands lines to `take` instead, while something else goes on. */
  divert(take: (line: string) => void): Disposable;
  /** Resolves as soon as nobody is in the middle of a line. */
  quiet(): Promise<void>;
  /** Aborted by a Ctrl-C that the source itself has seen. */
  readonly interrupted: AbortSignal;
}
