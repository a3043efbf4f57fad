import type { Socket } from "node:net";
import { type Holding, SharedBudget } from "@a2a-connect/core/internal";
import type { ListenLimits } from "../listen-options.ts";

/** The part of the connections that one address may have, and of the calls through a proxy that one of its callers may have. */
const maxShare = 7 / 8;

const tooMany = new Error("too many connections");

/** The connections that one port may have, and the calls that proxies may pass on to it. */
export class Places {
  readonly #connections: SharedBudget;
  /** One caller behind a proxy must not keep all the connections that the proxy may have. */
  readonly #passedOn: SharedBudget;

  constructor({ maxConnections }: Pick<ListenLimits, "maxConnections">) {
    this.#connections = new SharedBudget({ max: maxConnections, maxShare, refuse: () => tooMany });
    this.#passedOn = new SharedBudget({ max: maxConnections * maxShare, maxShare, refuse: () => tooMany });
  }

  /**
   * Takes a place for a connection until its socket is closed.
   *
   * @param network where its other end is; undefined when that is not known
   * @returns false: the port, or that caller's part of it, is full
   */
  takeConnection(network: string | undefined, socket: Socket): boolean {
    const place = take(this.#connections, network);
    if (place === null) return false;
    socket.once("close", () => place.end());
    return true;
  }

  /**
   * Takes a place for a call that a trusted proxy may have passed on, until it ends.
   *
   * @param network where the proxy says that it comes from. Without a word of it the call is the proxy's own: else a caller could
   *   contradict the proxy, and would not be counted
   * @returns null: that caller has as many as it may have
   */
  takePassedOn(network: string): Holding | null {
    return take(this.#passedOn, network);
  }
}

function take(places: SharedBudget, network: string | undefined): Holding | null {
  const place = places.open(network);
  try {
    place.add(1);
  } catch {
    return null;
  }
  return place;
}
