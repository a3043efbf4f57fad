import type { Fact } from "./fact.ts";
import type { Transcript } from "./transcript.ts";

/** Facts that a batch may have. An extractor that has found more in one conversation may stop: the batch is refused. */
export const maxFacts = 1_000;

/**
 * Reads the facts out of one conversation. Rules do it by default (`rules/rule-extractor.ts`); a model does it by
 * implementing this.
 *
 * It is run once for each transcript, as a step of the worker's journal: what it gave is never paid for twice. Names and
 * values may be given as they were said, the normaliser brings them into one form.
 */
export interface Extractor {
  /** @throws anything when it did not work; it is tried again */
  extract(transcript: Transcript, signal: AbortSignal): readonly Fact[] | Promise<readonly Fact[]>;
}
