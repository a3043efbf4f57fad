import type { Clock } from "../engine/clock.ts";
import { createDocument, type Document } from "./serve-document.ts";
import { within } from "./signing-queue.ts";

/** What a publication works with. */
export interface PublicationOptions {
  readonly contentType: string;
  readonly clock: Pick<Clock, "now" | "schedule">;
  /** How long a document that is being made is waited for where an older one is there, in milliseconds. Default: without end. */
  readonly patienceMs?: number;
}

/** The one document of a page that changes now and then. What it is made from is its source: the same value until it changes. */
export class Publication {
  readonly #options: PublicationOptions;
  #served: { readonly source: unknown; readonly turn: number; readonly document: Document } | undefined;
  /** The one that is being made, for all who ask meanwhile. `soon` fails when that takes longer than `patienceMs`. */
  #pending:
    | { readonly source: unknown; readonly done: Promise<Document>; readonly soon: Promise<Document> }
    | undefined;
  #turns = 0;

  constructor(options: PublicationOptions) {
    this.#options = options;
  }

  /** The last document that was made. */
  get last(): Document | undefined {
    return this.#served?.document;
  }

  /**
   * The document of a source, made once for all who ask for it. When that fails, it is tried again by the next who asks.
   *
   * @throws what `write` throws; Error when there is an older document, and this one takes longer than `patienceMs`
   */
  async find(source: unknown, write: () => string | Promise<string>): Promise<Document> {
    const served = this.#served;
    if (served !== undefined && served.source === source) {
      return served.document;
    }
    const pending = this.#pending;
    const making = pending !== undefined && pending.source === source ? pending : this.#make(source, write);
    return await (served === undefined ? making.done : making.soon);
  }

  /** Takes over from another publication of the page. */
  async replace(other: Publication, source: unknown, text: string): Promise<void> {
    this.#served = { source, turn: 0, document: await this.#createDocument(text, other.last) };
  }

  #make(source: unknown, write: () => string | Promise<string>) {
    this.#turns += 1;
    const turn = this.#turns;
    const make = async (): Promise<Document> => {
      const document = await this.#createDocument(await write(), this.last);
      // Something newer may have been quicker.
      if ((this.#served?.turn ?? 0) < turn) {
        this.#served = { source, turn, document };
      }
      return document;
    };
    const done = make().finally(() => {
      if (this.#pending === pending) {
        this.#pending = undefined;
      }
    });
    const { clock, patienceMs } = this.#options;
    const late = new Error("making the document takes its time");
    const soon = patienceMs === undefined ? done : within(clock, patienceMs, done, late);
    soon.catch(() => {}); // where there is no older one, all wait for `done`
    const pending = { source, done, soon };
    this.#pending = pending;
    return pending;
  }

  #createDocument(text: string, before: Document | undefined): Promise<Document> {
    const { contentType, clock } = this.#options;
    return createDocument(text, contentType, clock.now(), before);
  }
}
