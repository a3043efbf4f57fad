import { scaleToHeap } from "@a2a-connect/core/internal";
import type { Owner } from "../../store/task-store.ts";

/** A task that has left memory, or a push config of a task. */
export interface KnownThing {
  readonly owner: Owner;
  readonly taskId: string;
  /** Of the config. */
  readonly id?: string;
}

type NameOwner = (owner: Owner) => string;

/** Characters of the names that are remembered: those of some 12,000 configs, or 28,000 tasks, which take 300 bytes each in memory. */
const maxCharacters = scaleToHeap(2 ** 20);

/** The part of them from which a caller's own oldest names are forgotten for its new ones: it puts no others out. */
const ownPart = 1 / 8;

/**
 * The callers that created tasks, or registered configs. All callers without credentials are one owner, and the
 * store knows only owners: it keeps no network addresses. So the process remembers these callers, and their owner stands
 * for them after a restart, and when newer names have taken the room.
 */
export class KnownCallers {
  readonly #nameOwner: NameOwner;
  /** The caller of each name, in the order in which they came. */
  readonly #callers = new Map<string, KnownCaller>();
  readonly #byShare = new Map<string, KnownCaller>();
  readonly #maxCharacters: number;
  #characters = 0;

  /** @param limit characters of names, at most; default 1 Mi, less in a small heap */
  constructor(nameOwner: NameOwner, limit: number = maxCharacters) {
    this.#nameOwner = nameOwner;
    this.#maxCharacters = limit;
  }

  /** @param share the caller; undefined when it is not known, or the thing is gone */
  note(name: KnownThing, share: string | undefined): void {
    const key = keyOf(name);
    this.#forget(key);
    if (share === undefined || share === this.#nameOwner(name.owner)) {
      return;
    }
    const own = this.#byShare.get(share) ?? { share, keys: new Set<string>(), characters: 0 };
    this.#byShare.set(share, own);
    own.keys.add(key);
    own.characters += key.length;
    this.#callers.set(key, own);
    this.#characters += key.length;
    while (this.#characters > this.#maxCharacters) this.#makeRoom(own);
  }

  /** The caller, or the owner. */
  find(name: KnownThing): string {
    return this.#callers.get(keyOf(name))?.share ?? this.#nameOwner(name.owner);
  }

  /**
   * Forgets the oldest names: those of this caller where it has more than its part, else those of all. The newest name of a caller stays.
   * Several are forgotten at a time, because a new iterator passes the places of all names that were removed, which may be tens of thousands.
   */
  #makeRoom(own: KnownCaller): void {
    const enough = this.#maxCharacters - Math.floor(this.#maxCharacters / 256);
    const isMuch = own.keys.size > 1 && own.characters > this.#maxCharacters * ownPart;
    for (const oldest of isMuch ? own.keys : this.#callers.keys()) {
      if (this.#characters <= enough || (isMuch && own.keys.size === 1)) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const own = this.#callers.get(key);
    if (own === undefined) return;
    this.#callers.delete(key);
    own.keys.delete(key);
    own.characters -= key.length;
    if (own.keys.size === 0) this.#byShare.delete(own.share);
    this.#characters -= key.length;
  }
}

interface KnownCaller {
  /** One text for all of its names: each call has a copy of its own. */
  readonly share: string;
  /** The names, in the order in which they came. */
  readonly keys: Set<string>;
  characters: number;
}

/** No two owners have a task of the same id. */
function keyOf({ taskId, id = "" }: KnownThing): string {
  return `${taskId} ${id}`;
}
