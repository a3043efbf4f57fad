import { ReadTurns, RecentMap, startTimer, withinTime } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Credentials, isRefusal, type Verdict } from "../gate.ts";

/** How many checks wait at most, an eighth of them for one sender, and for how long a check waits and runs, in milliseconds. */
const maxWaiting = 256;
const maxMs = 30_000;

/** Senders that are remembered because their last credentials were wrong. */
const maxWrong = 10_000;

/** How many checks run at a time, and what they are about. */
export interface CheckLimits {
  readonly max: number;
  /** Those for one sender. */
  readonly maxOfOne: number;
  /**
   * Whether senders whose last credentials were wrong come after all others. Not where a sender may have any number of right
   * ones, with which it would starve them.
   */
  readonly wrongComeLast: boolean;
  /** What is checked, for the error: such as `passwords`. */
  readonly what: string;
}

/** Lets few checks of credentials run at a time, because each takes long. The others wait, and senders take turns. */
export class CheckTurns {
  readonly #limits: CheckLimits;
  readonly #turns: ReadTurns;
  readonly #wrong = new RecentMap<string | undefined, true>(maxWrong);

  constructor(limits: CheckLimits) {
    const { max, maxOfOne } = limits;
    this.#limits = limits;
    const comesLast = (share: string | undefined) => this.#wrong.has(siteOf(share));
    const room = { max: maxWaiting, comesLast, refuse: () => this.#refusal() };
    this.#turns = new ReadTurns(max, { maxOfOne, room });
  }

  /** @throws ConnectError Unavailable, when too many checks wait, or this one has waited too long */
  check(
    { share, signal }: Pick<Credentials, "share" | "signal">,
    test: () => Promise<NonNullable<Verdict>>,
  ): Promise<NonNullable<Verdict>> {
    const site = siteOf(share);
    const sender = this.#wrong.has(site) ? site : share;
    const run = (stop: AbortSignal) =>
      this.#turns.run({ share: sender, signal: () => stop }, async () => {
        const verdict = await test();
        if (!isRefusal(verdict)) this.#wrong.delete(site);
        else if (this.#limits.wrongComeLast) this.#wrong.set(site, true);
        return verdict;
      });
    return withinTime(maxMs, this.#refusal(), run, { signal, timer: startTimer });
  }

  #refusal(): ConnectError {
    const message = `too many ${this.#limits.what} are being checked; try again in a second`;
    return new ConnectError(message, Code.Unavailable);
  }
}

/**
 * Of an IPv6 network of 64 bits, the one of 48 bits around it: that belongs to one site, which could otherwise send each guess from
 * a network that has not guessed yet. Any other sender itself.
 */
function siteOf(share: string | undefined): string | undefined {
  if (share?.endsWith("::/64") !== true) return share;
  const groups = share.slice(0, -"::/64".length).split(":");
  return groups.slice(0, 3).join(":");
}
