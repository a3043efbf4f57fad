import type { Dispatcher, Pool } from "undici";

/** Connections that are kept, about: one that rests takes a file descriptor and 40 KB. */
const maxConnections = 512;

interface KeptPool {
  readonly pool: Pool;
  connections: number;
}

/**
 * A pool of connections for each caller and origin. Callers share none, because what comes over a connection waits in the turns of the
 * caller that it was made for. When there are many connections, the pools that have been used longest ago are closed: their requests
 * end first.
 */
export class ConnectionPools {
  readonly #open: (caller: string, origin: string) => Pool;
  /** By caller and origin, least recently used first. */
  readonly #pools = new Map<string, KeptPool>();
  /** Closed, but for requests that still run. */
  readonly #closing = new Set<Pool>();
  #connections = 0;

  /** @param open makes the pool of a caller and an origin */
  constructor(open: (caller: string, origin: string) => Pool) {
    this.#open = open;
  }

  dispatch(
    caller: string,
    request: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const origin = String(request.origin);
    const key = JSON.stringify([caller, origin]);
    const kept = this.#pools.get(key) ?? this.#keep(key, this.#open(caller, origin));
    this.#pools.delete(key);
    this.#pools.set(key, kept); // behind the others
    return kept.pool.dispatch(request, handler);
  }

  /** Ends all requests, and closes the connections. */
  async destroy(): Promise<void> {
    const pools = [...this.#pools.values()].map(({ pool }) => pool);
    await Promise.all([...pools, ...this.#closing].map((pool) => pool.destroy()));
  }

  #keep(key: string, pool: Pool): KeptPool {
    const kept: KeptPool = { pool, connections: 0 };
    const count = (change: number): void => {
      kept.connections += change;
      if (this.#pools.get(key) === kept) this.#connections += change;
    };
    const closeUnlessUsed = (): void => {
      if (kept.connections === 0 && this.#pools.get(key) === kept) this.#close(key, kept);
    };
    pool
      .on("connect", () => {
        count(1);
        this.#makeRoom(kept);
      })
      .on("disconnect", () => {
        count(-1);
        closeUnlessUsed();
      })
      .on("connectionError", closeUnlessUsed);
    return kept;
  }

  #makeRoom(latest: KeptPool): void {
    for (const [key, kept] of this.#pools) {
      if (this.#connections <= maxConnections) return;
      if (kept !== latest) this.#close(key, kept);
    }
  }

  #close(key: string, { pool, connections }: KeptPool): void {
    this.#pools.delete(key);
    this.#connections -= connections;
    this.#closing.add(pool);
    const forget = (): void => void this.#closing.delete(pool);
    pool.close().then(forget, forget);
  }
}
