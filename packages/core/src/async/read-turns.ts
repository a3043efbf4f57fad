import { Code, ConnectError } from "@connectrpc/connect";

/** For which call something is read. */
export interface Reader<Share = string> {
  /** The caller, most often its name; undefined: not known. */
  readonly share: Share | undefined;
  /** Gives the call's signal, which aborts when the caller has gone; undefined: the call always waits. */
  readonly signal?: (() => AbortSignal) | undefined;
}

interface Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/** Turns of the event loop, by caller. */
interface Pace<Share> {
  turn(share: Share | undefined): Promise<void> | undefined;
}

/** Bounds the calls that wait, and says which callers come last. */
export interface WaitingRoom<Share = string> {
  /**
   * How many calls may wait, an eighth of them of one caller. When the room is full, the newest call of the caller that has the
   * most of them is refused; where callers come last, one of theirs.
   */
  readonly max: number;
  /** Whether a caller comes after all others. Those that do take turns, too. */
  comesLast(share: Share | undefined): boolean;
  /** The error of a call that is refused. */
  refuse(): Error;
}

export interface TurnOptions<Share = string> {
  /** Reads of one caller that run at a time. Default: half of all. */
  readonly maxOfOne?: number;
  /**
   * What a read that had to wait has a turn of. A store in memory answers at once: without turns thousands would run one after the
   * other, and nothing in between. Default: each read waits for something outside.
   */
  readonly pace?: Pace<Share>;
  /** Default: any number of calls may wait, and no caller comes last. */
  readonly room?: WaitingRoom<Share>;
}

/**
 * Lets few reads run at a time: of the store, because each keeps what it reads in memory before a budget can count it; of
 * the resolver, because it asks for few names at a time. By default half of the places are for one caller at most, and the last one
 * for a caller that has none: two callers do not keep all others waiting. Callers that wait take turns, and a call whose caller has
 * gone reads nothing.
 */
export class ReadTurns<Share = string> {
  readonly #max: number;
  readonly #maxOfOne: number;
  readonly #pace: Pace<Share> | undefined;
  readonly #room: WaitingRoom<Share> | undefined;
  #running = 0;
  readonly #runningOf = new Map<Share | undefined, number>();
  /** What waits, by caller; whose turn is next comes first. */
  readonly #waiting = new Map<Share | undefined, Set<Waiting>>();
  /** How many calls wait. */
  #calls = 0;

  /** @param max reads that run at a time: an even number where `maxOfOne` is not given */
  constructor(max: number, { maxOfOne = max / 2, pace, room }: TurnOptions<Share> = {}) {
    this.#max = max;
    this.#maxOfOne = maxOfOne;
    this.#pace = pace;
    this.#room = room;
  }

  /**
   * @throws ConnectError why the signal of a call that waited aborted
   * @throws Error of the room, when there is no place in it; what `read` throws
   */
  async run<Result>(reader: Reader<Share>, read: () => Promise<Result>): Promise<Result> {
    const mustWait = !this.hasPlace(reader.share);
    if (mustWait) await this.#turn(reader);
    else this.#begin(reader.share);
    try {
      if (mustWait) await this.#pace?.turn(reader.share);
      return await read();
    } finally {
      this.#end(reader.share);
    }
  }

  /** Whether a read of this caller would begin at once. */
  hasPlace(share: Share | undefined): boolean {
    const own = share === undefined ? 0 : (this.#runningOf.get(share) ?? 0);
    const mayHaveLast = own === 0 || this.#maxOfOne === this.#max;
    return own < this.#maxOfOne && this.#running < this.#max - (mayHaveLast ? 0 : 1);
  }

  #begin(share: Share | undefined): void {
    this.#running += 1;
    this.#runningOf.set(share, (this.#runningOf.get(share) ?? 0) + 1);
  }

  #end(share: Share | undefined): void {
    this.#running -= 1;
    const own = (this.#runningOf.get(share) ?? 0) - 1;
    if (own > 0) this.#runningOf.set(share, own);
    else this.#runningOf.delete(share);
    // Two may begin now: one in this place, and one of a caller that has none any more in the last one.
    for (let next = this.#findNext(); next !== undefined; next = this.#findNext()) {
      const { share: caller, waiting, first } = next;
      this.#forget(caller, first);
      if (waiting.size > 0) {
        this.#waiting.delete(caller); // behind the others
        this.#waiting.set(caller, waiting);
      }
      this.#begin(caller);
      first.begin();
    }
  }

  /** The caller whose turn it is, of those that may have a place. */
  #findNext() {
    let last: { share: Share | undefined; waiting: Set<Waiting>; first: Waiting } | undefined;
    for (const [share, waiting] of this.#waiting) {
      const [first] = waiting;
      if (first === undefined || !this.hasPlace(share)) continue;
      const next = { share, waiting, first };
      if (this.#room?.comesLast(share) !== true) return next;
      last ??= next;
    }
    return last;
  }

  /** @throws Error of the room, when this call is the one to refuse; otherwise another one is refused where the room is full */
  #takeRoom(share: Share | undefined): void {
    const room = this.#room;
    if (room === undefined) return;
    const own = this.#waiting.get(share)?.size ?? 0;
    if (share !== undefined && own >= room.max / 8) throw room.refuse();
    if (this.#calls < room.max) return;
    let worst = { share, comesLast: room.comesLast(share), calls: own + 1 };
    for (const [other, { size: calls }] of this.#waiting) {
      const comesLast = room.comesLast(other);
      const isWorse = comesLast === worst.comesLast ? calls > worst.calls : comesLast;
      if (isWorse) worst = { share: other, comesLast, calls };
    }
    const newest = worst.share === share ? undefined : [...(this.#waiting.get(worst.share) ?? [])].at(-1);
    if (newest === undefined) throw room.refuse();
    newest.refuse();
  }

  #forget(share: Share | undefined, one: Waiting): void {
    const waiting = this.#waiting.get(share);
    if (waiting?.delete(one) === true) this.#calls -= 1;
    if (waiting?.size === 0) this.#waiting.delete(share);
  }

  #turn({ share, signal: signalOf }: Reader<Share>): Promise<void> {
    const signal = signalOf?.();
    return new Promise((resolve, reject) => {
      this.#takeRoom(share);
      const leave = (reason: unknown): void => {
        signal?.removeEventListener("abort", gone);
        this.#forget(share, one);
        reject(reason);
      };
      const gone = (): void => {
        const { reason } = signal ?? {};
        leave(
          reason instanceof ConnectError ? reason : new ConnectError("the call was canceled", Code.Canceled),
        );
      };
      const one: Waiting = {
        begin: () => {
          signal?.removeEventListener("abort", gone);
          resolve();
        },
        refuse: () => leave(this.#room?.refuse()),
      };
      const waiting = this.#waiting.get(share) ?? new Set();
      this.#calls += 1;
      this.#waiting.set(share, waiting.add(one));
      if (signal?.aborted === true) gone();
      else signal?.addEventListener("abort", gone, { once: true });
    });
  }
}
