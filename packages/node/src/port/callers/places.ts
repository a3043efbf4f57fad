import type { Socket } from "node:net";
import { type Holding, SharedBudget, shareByLimits } from "@a2a-connect/core/internal";
import { headerBytes } from "../http-head.ts";
import type { ListenLimits } from "../listen-options.ts";

/** The part of the connections that one address may have, and of the calls through a proxy that one of its callers may have. */
const maxShare = 7 / 8;

/**
 * The header that a request may have for each place it takes. The request keeps its header until it is answered, as bytes, fields and
 * `Headers`: some four times its size. Its target counts as a field, and is kept two or three times: by Node, as the absolute URL and
 * as the query.
 */
export const placeBytes: number = 4 * 1024;

type PlacesLimits = Pick<ListenLimits, "maxConnections" | "maxStreams">;

const tooMany = new Error("too many");

/** The connections and requests that one port may have, and the calls that proxies may pass on to it. */
export class Places {
  readonly #connections: SharedBudget;
  /** One caller behind a proxy must not keep all the connections that the proxy may have. */
  readonly #passedOn: SharedBudget;
  /** Those that share their connection: the streams of HTTP/2, and of HTTP/1.1 what is sent before the answer to the request before. */
  readonly #requests: SharedBudget;

  constructor({ maxConnections, maxStreams }: PlacesLimits) {
    const budget = (max: number): SharedBudget => new SharedBudget({ max, maxShare, refuse: () => tooMany });
    this.#connections = budget(maxConnections);
    this.#passedOn = budget(maxConnections * maxShare);
    this.#requests = budget(maxStreams);
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

  /** Takes so many places (`placesOf`) for a request that shares its connection, until it ends. @returns null: as `takePassedOn` */
  takeRequest(network: string, places: number): Holding | null {
    return take(this.#requests, network, places);
  }

  /** What a connection has of a header that is not complete: no places yet. Give it to `holdHeader`, and end it with the connection. */
  openHeader(network: string): Holding {
    return this.#requests.open(network);
  }
}

/**
 * Takes the places of a header of which so many bytes have come, in place of those that it had. As of a request that has a place, the
 * first 4 KiB need none.
 *
 * @returns false: its caller has as many as it may have
 */
export function holdHeader(header: Holding, bytes: number): boolean {
  try {
    header.add(Math.floor(bytes / placeBytes) - header.amount);
    return true;
  } catch {
    return false;
  }
}

/** Those of mounts with the same limits: the connections are other servers'. */
export const findMountedPlaces: (limits: PlacesLimits) => Places = shareByLimits(
  (limits: PlacesLimits) => new Places(limits),
);

/**
 * The places that a request takes: one at least.
 *
 * @param rawHeaders names and values in turn
 * @param target that of HTTP/1.1, which is no field. It counts as `:path` of HTTP/2 does
 */
export function placesOf(rawHeaders: readonly string[], target?: string): number {
  const bytes = headerBytes(rawHeaders) + (target === undefined ? 0 : headerBytes([":path", target]));
  return Math.max(1, Math.ceil(bytes / placeBytes));
}

function take(places: SharedBudget, network: string | undefined, amount = 1): Holding | null {
  const place = places.open(network);
  try {
    place.add(amount);
  } catch {
    return null;
  }
  return place;
}
