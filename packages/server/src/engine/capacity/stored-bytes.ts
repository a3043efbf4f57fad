import { a2aError } from "@a2a-connect/core";
import { encodeMessage } from "@a2a-connect/core/internal";
import { type TaskPushNotificationConfig, TaskPushNotificationConfigSchema } from "@a2a-connect/proto";
import type { StoreRoom, TaskStore } from "../../store/task-store.ts";
import type { Clock } from "../clock.ts";

/** How often a store is asked for its room, in milliseconds: it may have to ask the file system. */
const lookEveryMs = 1_000;

/** Callers that are remembered. Of more, those that have stored less than most are forgotten. */
const maxCallers = 10_000;

/** What an entry takes in a store besides its bytes. */
const bytesPerEntry = 1_024;

/** What is known of a store. */
interface KnownRoom {
  readonly used: number;
  /** When it was last asked, less what was stored since then. */
  free: number;
  /** When it is asked again, in the clock's ticks. */
  readonly until: number;
}

/** Parts of the engine's context. */
interface Storage {
  readonly store: TaskStore;
  readonly clock: Pick<Clock, "ticks">;
  readonly log: (record: { readonly level: "warn"; readonly message: string }) => void;
}

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
  readonly #byShare = new Map<string, number>();
  #all = 0;
  #tellAt = 0;

  /** @param maxShare above 0, to 1: the first caller may store all that there is room for */
  constructor(maxShare: number) {
    this.#maxShare = maxShare;
  }

  /** Whether the caller has stored its part. */
  isExceeded(share: string | undefined, storage: Storage): boolean {
    const { free } = this.#look(storage);
    const own = share === undefined ? 0 : (this.#byShare.get(share) ?? 0);
    const isExceeded = own > (own + free) * this.#maxShare;
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

  /** An entry of the caller's was accepted. */
  count(share: string | undefined, bytes: number, storage: Storage): void {
    const room = this.#look(storage);
    if (room.free === Number.POSITIVE_INFINITY) return;
    const stored = bytes + bytesPerEntry;
    room.free = Math.max(0, room.free - stored);
    if (share === undefined) return;
    this.#byShare.set(share, (this.#byShare.get(share) ?? 0) + stored);
    this.#all += stored;
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
    const room = { ...(store.room?.() ?? unbounded), until: now + lookEveryMs };
    this.#rooms.set(store, room);
    this.#forget();
    return room;
  }

  #forget(): void {
    let used = 0;
    for (const room of this.#rooms.values()) used += room.used;
    const part = Math.min(1, used / this.#all);
    const least = this.#byShare.size > maxCallers ? this.#all / this.#byShare.size : bytesPerEntry;
    if (part === 1 && least === bytesPerEntry) return;
    this.#all = 0;
    for (const [share, bytes] of this.#byShare) {
      if (bytes < least) {
        this.#byShare.delete(share);
      } else {
        this.#byShare.set(share, bytes * part);
        this.#all += bytes * part;
      }
    }
  }
}

const unbounded: StoreRoom = { used: 0, free: Number.POSITIVE_INFINITY };
