import { weigh } from "@a2a-connect/client/internal";
import { usageError } from "../cli-error.ts";
import type { Output } from "../output.ts";

/** What is kept for one JSON document: about its size in memory, as the client weighs tasks. */
const maxKeptBytes = 64 * 1024 * 1024;

/** When stderr says for the first time that a list goes on; after that, each time that it has taken twice as long. */
const firstNoteMs = 1_000;

/** What a list is of, and what a user may do when it is too long for one document. */
interface ListKind {
  readonly name: string;
  readonly hint: string;
}

/** What has come of a list so far. How long a list is, its agent decides. */
export class Listing<Item> {
  readonly #output: Output;
  readonly #kind: ListKind;
  /** What goes into one JSON document; nothing where each item is printed as it comes. */
  readonly kept: Item[] = [];
  #keptBytes = 0;
  #pages = 0;
  #count = 0;
  readonly #ticks: () => number;
  readonly #beganAt: number;
  #noteMs = firstNoteMs;

  /** @param ticks milliseconds since a moment of its own */
  constructor(output: Output, kind: ListKind, ticks: () => number = () => performance.now()) {
    this.#output = output;
    this.#kind = kind;
    this.#ticks = ticks;
    this.#beganAt = ticks();
  }

  /** How many items have come. */
  get count(): number {
    return this.#count;
  }

  /**
   * Takes a page. When nothing is printed of it, stderr says from time to time that the list goes on.
   *
   * @throws CliError USAGE when the list is too long for one document
   */
  async add(page: readonly Item[]): Promise<void> {
    this.#pages += 1;
    this.#count += page.length;
    const isKept = this.#output.format === "json" && !this.#output.streaming;
    if (isKept) this.#keep(page);
    const tookMs = this.#ticks() - this.#beganAt;
    if (tookMs < this.#noteMs || !(isKept || page.length === 0)) return;
    this.#noteMs = 2 * tookMs;
    const soFar = `${this.#pages} pages with ${this.#count} ${this.#kind.name} so far`;
    await this.#output.note(`the list goes on: ${soFar}; Ctrl-C ends it`);
  }

  #keep(page: readonly Item[]): void {
    this.#keptBytes += weigh(page);
    // One page alone is no larger than the client reads.
    if (this.kept.length > 0 && this.#keptBytes > maxKeptBytes) {
      const { name, hint } = this.#kind;
      throw usageError(`the ${name} take more than 64 MiB, too much for one JSON document`, hint);
    }
    for (const item of page) this.kept.push(item);
  }
}
