import { a2aError, methodByName } from "@a2a-connect/core";
import { RecentMap, runtimeKey } from "@a2a-connect/core/internal";
import { RetryInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ConnectError, HandlerContext } from "@connectrpc/connect";
import { callerNameOf } from "./caller-names.ts";
import type { Gate } from "./protocol-gates.ts";

/** How often one caller may call: a bucket of calls, refilled at a steady rate. */
export interface Rate {
  /** Calls that may come at once. */
  readonly burst: number;
  /** Calls that are added in a second. */
  readonly perSecond: number;
}

/** How often, and with how many streams, callers may call. */
export interface RateLimits {
  /** Calls of one principal; of one address where callers have no credentials. Default 100 at once, 50 a second. */
  readonly perPrincipal?: Rate;
  /** Calls from one address (IPv4) or network (IPv6), before credentials are checked. Default 400 at once, 200 a second. */
  readonly perAddress?: Rate;
  /**
   * How often one principal may get the same unfinished task, in milliseconds; one that waits for a newer generation is not counted.
   * 0: as often as it likes. Default 2,000.
   */
  readonly minPollMs?: number;
  /** Streams of one principal that are open at a time. Default 200. */
  readonly streams?: number;
}

/** Callers that are remembered. One that is forgotten begins anew, so there are more than a crowd can come from at once. */
const maxCallers = 50_000;

/** Counts the calls of each caller, in memory: every process has its own counts. */
export class RateLimiter {
  readonly #addresses: Buckets;
  readonly #principals: Buckets;
  readonly #minPollMs: number;
  readonly #maxStreams: number;
  readonly #polls = new RecentMap<string, number>(maxCallers);
  readonly #streams = new Map<string, number>();
  readonly #ticks: () => number;

  /** @param ticks milliseconds since a moment of its own */
  constructor(limits: RateLimits, ticks: () => number) {
    const { perPrincipal = { burst: 100, perSecond: 50 }, perAddress = { burst: 400, perSecond: 200 } } =
      limits;
    this.#addresses = new Buckets(perAddress, ticks);
    this.#principals = new Buckets(perPrincipal, ticks);
    this.#minPollMs = limits.minPollMs ?? 2_000;
    this.#maxStreams = limits.streams ?? 200;
    this.#ticks = ticks;
  }

  /** Counts calls by their address: the first of all gates. */
  get addressGate(): Gate {
    return ({ method, context }) => {
      const { callerNetwork } = context.values.get(runtimeKey);
      if (callerNetwork !== undefined && isOwnCall(method.name, context)) this.#addresses.take(callerNetwork);
    };
  }

  /** Counts calls by their principal: after the gate that finds it. */
  get principalGate(): Gate {
    return ({ method, context }) => {
      const name = callerNameOf(context);
      if (name !== undefined && isOwnCall(method.name, context)) this.#principals.take(name);
    };
  }

  /** @throws ConnectError ResourceExhausted when the caller has got that task, unfinished, a moment ago */
  assertPoll(context: HandlerContext, taskId: string): void {
    const last = this.#minPollMs === 0 ? undefined : this.#polls.get(pollName(context, taskId));
    const left = last === undefined ? 0 : last + this.#minPollMs - this.#ticks();
    if (left > 0 && isOwnCall("GetTask", context)) {
      throw tooOften("the task was asked for a moment ago: subscribe to it, or ask less often", left);
    }
  }

  /** The caller has got that task, which is not finished. */
  notePoll(context: HandlerContext, taskId: string): void {
    if (isOwnCall("GetTask", context)) this.#polls.set(pollName(context, taskId), this.#ticks());
  }

  /** Counts a stream of the caller's until the returned function is called. @throws ConnectError ResourceExhausted */
  openStream(context: HandlerContext): () => void {
    const name = callerNameOf(context) ?? "";
    const open = this.#streams.get(name) ?? 0;
    if (open >= this.#maxStreams) {
      throw tooOften(`the caller has ${open} streams open, and may not have more`, 1_000);
    }
    this.#streams.set(name, open + 1);
    return () => {
      const rest = (this.#streams.get(name) ?? 1) - 1;
      if (rest === 0) this.#streams.delete(name);
      else this.#streams.set(name, rest);
    };
  }
}

/** Operations of older versions call others; only what the caller has called is counted, in A2A or beside it. */
function isOwnCall(operation: string, { method }: HandlerContext): boolean {
  return method.name === operation || methodByName(method.name) === undefined;
}

function pollName(context: HandlerContext, taskId: string): string {
  return JSON.stringify([callerNameOf(context), taskId]);
}

/** A bucket for each caller. */
class Buckets {
  readonly #rate: Rate;
  readonly #ticks: () => number;
  readonly #levels = new RecentMap<string, { calls: number; at: number }>(maxCallers);

  constructor(rate: Rate, ticks: () => number) {
    this.#rate = rate;
    this.#ticks = ticks;
  }

  /** @throws ConnectError ResourceExhausted when the caller's bucket is empty */
  take(name: string): void {
    const { burst, perSecond } = this.#rate;
    const now = this.#ticks();
    const level = this.#levels.get(name) ?? { calls: burst, at: now };
    level.calls = Math.min(burst, level.calls + ((now - level.at) / 1_000) * perSecond);
    level.at = now;
    this.#levels.set(name, level);
    if (level.calls < 1) {
      throw tooOften("the caller calls too often", ((1 - level.calls) / perSecond) * 1_000);
    }
    level.calls -= 1;
  }
}

/** RATE_LIMITED, with the time after which the caller may call again, for both kinds of wires. */
function tooOften(sentence: string, waitMs: number): ConnectError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const error = a2aError("RATE_LIMITED", sentence, { retryAfterSeconds: String(seconds) });
  error.details.push({ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(Math.ceil(waitMs)) } });
  error.metadata.set("retry-after", String(seconds));
  return error;
}
