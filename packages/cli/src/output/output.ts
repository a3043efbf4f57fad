/**
 * What a command prints (a2a-cli §11). In `json` nothing but the payload goes to stdout; diagnostics always go to stderr.
 * Everything that came from an agent is stripped of terminal control sequences on its way.
 */
export interface Output {
  readonly format: "json" | "text";
  /** JSON Lines: one document per event. */
  readonly streaming: boolean;
  /** The full view (`--verbose`). */
  readonly verbose: boolean;
  /** Text: one `Label: value` line. Does nothing in `json`. */
  field(label: string, value: string | number | boolean | undefined): Promise<void>;
  /** Text: a label of its own line, the content, an empty line. Does nothing in `json`. */
  block(label: string, content: string): Promise<void>;
  /** Json: one document (a single one unless streaming). Does nothing in `text`. */
  document(value: unknown): Promise<void>;
  /** To stderr, in either format: `warning: …`. */
  warn(sentence: string): Promise<void>;
  /** To stderr, in either format: a hint, progress, a line for people. */
  note(sentence: string): Promise<void>;
}
