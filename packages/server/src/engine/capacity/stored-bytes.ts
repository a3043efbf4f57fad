import { a2aError, anonymousPrincipal } from "@a2a-connect/core";
import { encodeMessage } from "@a2a-connect/core/internal";
import { type TaskPushNotificationConfig, TaskPushNotificationConfigSchema } from "@a2a-connect/proto";
import type { Owner, StoreRoom, TaskStore } from "../../store/task-store.ts";
import type { Clock } from "../clock.ts";

/** How often a store is asked for its room, in milliseconds: it may have to ask the file system. */
const lookEveryMs = 1_000;

/** Callers that are remembered. Of more, those that have stored less than most are forgotten. */
const maxCallers = 10_000;

/** What an entry takes in a store besides its bytes. */
const bytesPerEntry = 1_024;

/** What is stored of a caller in any case, in bytes: each task must be able to end. */
export const alwaysStoredBytes: number = 4 * 1024;

/** The part of what the store has and can take that each caller may have in any case: so little fills no store. */
const alwaysStoredPart = 1 / 1_000;

/** The part of it that callers that are not known leave to others. */
const keptPart = 1 / 16;

/** What is known of a store. */
interface KnownRoom {
  used: number;
  /** What it told, less what was accepted since then, or before and is not stored yet. */
  free: number;
  /** What was accepted and is not stored yet. */
  waiting: number;
  /** When it is asked again, in the clock's ticks. */
  until: number;
  place: StoredPlace;
}

/** Parts of the engine's context. */
interface Storage {
  readonly store: TaskStore;
  readonly clock: Pick<Clock, "ticks">;
  readonly nameOwner: (owner: Owner) => string;
  readonly log: (record: { readonly level: "warn"; readonly message: string }) => void;
}

const anonymousOwner: Owner = { tenant: "", principal: anonymousPrincipal.id };

/** How often the operator is told, in milliseconds. */
const tellEveryMs = 60_000;

const full =
  "a caller has stored most of what the task store has room for: its messages and output are refused until older tasks have expired; make room on the disk, or set limits.maxShare or retentionMs";

/**
 * Keeps one caller from filling the store for all others, for as long as its tasks are kept. A caller may store more while it has less than
 * `maxShare / (1 - maxShare)` times as much as is free.
 *
 * What a caller has is what the engine has accepted for it since the process began. When expired tasks are removed, no part of the engine knows
 * whose they were: what all callers have then shrinks to what the stores have, in the same proportion for each.
 */
export class StoredBytes {
  readonly #maxShare: number;
  readonly #rooms = new Map<TaskStore, KnownRoom>();
  readonly #places = new Map<string, StoredPlace>();
  #tellAt = 0;

  /** @param maxShare above 0, to 1: the first caller may store all that there is room for */
  constructor(maxShare: number) {
    this.#maxShare = maxShare;
  }

  /**
   * Whether the caller has stored its part. Callers that are not known have none: else one of them could have the tasks of all
   * others fail. They leave room to those that are known.
   */
  isExceeded(share: string | undefined, storage: Storage): boolean {
    const { used, free, place } = this.#look(storage);
    const isShort = free < (used + free) * keptPart;
    if (!isShort && place.all <= free && this.#maxShare >= 1 / 2) return false; // as nearly always: no caller has its part
    const own = place.of(share);
    const isKnown = share !== undefined && share !== storage.nameOwner(anonymousOwner);
    const isExceeded = isKnown
      ? own > (used + free) * alwaysStoredPart && own > (own + free) * this.#maxShare
      : isShort && this.#maxShare < 1;
    if (isExceeded) this.#tell(storage);
    return isExceeded;
  }

  #tell({ clock, log }: Storage): void {
    if (clock.ticks() < this.#tellAt) return;
    this.#tellAt = clock.ticks() + tellEveryMs;
    log({ level: "warn", message: full });
  }

  /** Before a message is taken. @throws ConnectError CAPACITY when the caller has stored its part */
  assertRoom(share: string | undefined, storage: Storage): void {
    if (!this.isExceeded(share, storage)) return;
    throw a2aError(
      "CAPACITY",
      "the caller has stored most of what the task store has room for; try again when older tasks have expired",
    );
  }

  /** Something of the caller's was stored. */
  count(share: string | undefined, bytes: number, storage: Storage): void {
    this.#add(share, bytes, this.#look(storage));
  }

  #add(share: string | undefined, bytes: number, room: KnownRoom): KnownRoom {
    if (room.free === Number.POSITIVE_INFINITY) return room;
    const stored = bytes + bytesPerEntry;
    room.free = Math.max(0, room.free - stored);
    if (share !== undefined) room.place.add(share, stored);
    return room;
  }

  /** An entry of the caller's was accepted: it counts at once, and the store does not have it until `settle`. */
  accept(share: string | undefined, bytes: number, storage: Storage): void {
    this.#add(share, bytes, this.#look(storage)).waiting += bytes + bytesPerEntry;
  }

  /** Accepted entries were stored, or never will be. */
  settle(entries: readonly { readonly payload: Uint8Array }[], storage: Storage): void {
    const room = this.#look(storage);
    for (const { payload } of entries) room.waiting -= payload.length + bytesPerEntry;
  }

  /** Push configs of the caller's were accepted. */
  countConfigs(
    share: string | undefined,
    configs: readonly TaskPushNotificationConfig[],
    storage: Storage,
  ): void {
    for (const config of configs) {
      this.count(share, encodeMessage(TaskPushNotificationConfigSchema, config).length, storage);
    }
  }

  #look({ store, clock }: Storage): KnownRoom {
    const known = this.#rooms.get(store);
    const now = clock.ticks();
    if (known !== undefined && now < known.until) return known;
    const answer = roomOf(store);
    if (answer === undefined && known !== undefined)
      return Object.assign(known, { until: now + lookEveryMs });
    const { used: stored, free: told, place: name } = answer ?? unbounded;
    const place = (name === undefined ? known?.place : this.#places.get(name)) ?? new StoredPlace();
    if (name !== undefined) this.#places.set(name, place);
    const waiting = known?.waiting ?? 0;
    const used = stored + waiting;
    place.used(store, used);
    const free = Math.max(0, told - waiting);
    const room = { used, free, waiting, until: now + lookEveryMs, place };
    if (known === undefined) this.#rooms.set(store, room);
    return Object.assign(known ?? room, room);
  }
}

/** Undefined: it does not tell. A closed store, or one that has lost its file, says so where it is written; what only counts must not fail. */
function roomOf(store: TaskStore): StoreRoom | undefined {
  try {
    return store.room?.();
  } catch {
    return undefined;
  }
}

const unbounded: StoreRoom = { used: 0, free: Number.POSITIVE_INFINITY };

/** What callers have in a store, or in several on one disk. */
class StoredPlace {
  readonly #byShare = new Map<string, number>();
  /** What each store has. */
  readonly #used = new Map<TaskStore, number>();
  #all = 0;

  /** What all callers have together. */
  get all(): number {
    return this.#all;
  }

  of(share: string | undefined): number {
    return share === undefined ? 0 : (this.#byShare.get(share) ?? 0);
  }

  add(share: string, bytes: number): void {
    this.#byShare.set(share, this.of(share) + bytes);
    this.#all += bytes;
  }

  /** A store has so much now: all callers together have no more. */
  used(store: TaskStore, bytes: number): void {
    this.#used.set(store, bytes);
    const used = [...this.#used.values()].reduce((sum, each) => sum + each, 0);
    const part = Math.min(1, used / this.#all);
    const isCrowded = this.#byShare.size > maxCallers;
    if (part === 1 && !isCrowded) return;
    const least = isCrowded ? this.#all / this.#byShare.size : bytesPerEntry;
    this.#all = 0;
    for (const [share, before] of this.#byShare) {
      if (before < least) {
        this.#byShare.delete(share);
      } else {
        this.#byShare.set(share, before * part);
        this.#all += before * part;
      }
    }
  }
}
