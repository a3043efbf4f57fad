import type { Owner } from "../../store/task-store.ts";

/** A task that has left memory, or a push config of a task. */
export interface KnownThing {
  readonly owner: Owner;
  readonly taskId: string;
  /** Of the config. */
  readonly id?: string;
}

type NameOwner = (owner: Owner) => string;

/** Characters of the names that are remembered: those of some 50,000 configs, or 100,000 tasks. */
const maxCharacters = 4 * 2 ** 20;

/** The part of them from which a caller's own oldest names are forgotten for its new ones: it puts no others out. */
const ownPart = 1 / 8;

/**
 * The callers that created tasks, or registered configs. All callers without credentials are one owner, and the
 * store knows only owners: it keeps no network addresses. So the process remembers these callers, and their owner stands
 * for them after a restart, and when newer names have taken the room.
 */
export class KnownCallers {
  readonly #nameOwner: NameOwner;
  /** In the order in which they came. */
  readonly #shares = new Map<string, string>();
  /** The names of each caller, in the same order. */
  readonly #names = new Map<string, { readonly keys: Set<string>; characters: number }>();
  readonly #maxCharacters: number;
  #characters = 0;

  /** @param limit characters of names, at most; default 4 Mi */
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
    const own = this.#names.get(share) ?? { keys: new Set<string>(), characters: 0 };
    this.#names.set(share, own);
    own.keys.add(key);
    own.characters += key.length;
    this.#shares.set(key, share);
    this.#characters += key.length;
    while (this.#characters > this.#maxCharacters) {
      const isMuch = own.keys.size > 1 && own.characters > this.#maxCharacters * ownPart;
      const [oldest = key] = isMuch ? own.keys : this.#shares.keys();
      this.#forget(oldest);
    }
  }

  /** The caller, or the owner. */
  find(name: KnownThing): string {
    return this.#shares.get(keyOf(name)) ?? this.#nameOwner(name.owner);
  }

  #forget(key: string): void {
    const share = this.#shares.get(key);
    const own = share === undefined ? undefined : this.#names.get(share);
    if (share === undefined || own === undefined) return;
    this.#shares.delete(key);
    own.keys.delete(key);
    own.characters -= key.length;
    if (own.keys.size === 0) this.#names.delete(share);
    this.#characters -= key.length;
  }
}

/** No two owners have a task of the same id. */
function keyOf({ taskId, id = "" }: KnownThing): string {
  return `${taskId} ${id}`;
}
