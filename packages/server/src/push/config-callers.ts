import type { PushConfigName } from "./config-quota.ts";

/** Characters of the names that are remembered: those of some 50,000 configs. */
const maxCharacters = 4 * 2 ** 20;

/**
 * The callers that registered configs, as `shareOf` names them. All callers without credentials are one owner, and the
 * store knows only owners: it keeps no network addresses. So the process remembers these callers, and their owner stands
 * for them after a restart, and when newer configs have taken the room.
 */
export class ConfigCallers {
  /** In the order in which they came. */
  readonly #shares = new Map<string, string>();
  readonly #maxCharacters: number;
  #characters = 0;

  /** @param limit characters of names, at most; default 4 Mi */
  constructor(limit: number = maxCharacters) {
    this.#maxCharacters = limit;
  }

  /** @param share the caller that registered the config; undefined when it is not known, or the config is removed */
  note(name: PushConfigName, share: string | undefined): void {
    const key = keyOf(name);
    this.#forget(key);
    if (share === undefined || share === ownerShare(name)) {
      return;
    }
    this.#shares.set(key, share);
    this.#characters += key.length;
    for (const oldest of this.#shares.keys()) {
      if (this.#characters <= this.#maxCharacters) break;
      this.#forget(oldest);
    }
  }

  /** The caller that registered the config, or its owner. */
  find(name: PushConfigName): string {
    return this.#shares.get(keyOf(name)) ?? ownerShare(name);
  }

  #forget(key: string): void {
    if (this.#shares.delete(key)) {
      this.#characters -= key.length;
    }
  }
}

function ownerShare({ owner: { principal } }: PushConfigName): string {
  return `principal ${principal}`;
}

/** No two owners have a task of the same id. */
function keyOf({ taskId, id }: PushConfigName): string {
  return `${taskId} ${id}`;
}
