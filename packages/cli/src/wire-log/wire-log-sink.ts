import type { Masking } from "./masking.ts";

/** Where the log's lines go, and what is taken out of them. */
export interface WireLogSink {
  /** One line, indented when it belongs to the one before. */
  line(text: string): void;
  /** A number for the next request. */
  nextId(): number;
  readonly masking: Masking;
}
