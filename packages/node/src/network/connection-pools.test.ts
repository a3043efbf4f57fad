import { EventEmitter } from "node:events";
import type { Dispatcher, Pool } from "undici";
import { describe, expect, it } from "vitest";
import { ConnectionPools } from "./connection-pools.ts";

/** A pool that makes a connection for each request and keeps it. */
class FakePool extends EventEmitter {
  readonly name: string;
  state: "open" | "closed" | "destroyed" = "open";
  readonly #closed = Promise.withResolvers<void>();

  constructor(name: string) {
    super();
    this.name = name;
  }

  dispatch(): boolean {
    this.emit("connect");
    return true;
  }

  close(): Promise<void> {
    this.state = "closed";
    return this.#closed.promise;
  }

  async destroy(): Promise<void> {
    this.state = "destroyed";
    this.#closed.resolve();
  }
}

function createPools() {
  const opened: FakePool[] = [];
  const pools = new ConnectionPools((caller, origin) => {
    const pool = new FakePool(`${caller} ${origin}`);
    opened.push(pool);
    return pool as unknown as Pool;
  });
  const request = (caller: string, host: string) =>
    pools.dispatch(
      caller,
      { origin: `https://${host}`, path: "/", method: "POST" },
      {} as Dispatcher.DispatchHandler,
    );
  const open = () => opened.filter(({ state }) => state === "open").map(({ name }) => name);
  return { pools, opened, open, request };
}

describe("connections to servers that callers name", () => {
  it("are for one caller and one origin", () => {
    const { open, request } = createPools();
    for (const caller of ["alice", "bob", "alice"]) {
      for (const host of ["a.example", "b.example"]) request(caller, host);
    }
    expect(open()).toEqual([
      "alice https://a.example",
      "alice https://b.example",
      "bob https://a.example",
      "bob https://b.example",
    ]);
  });

  it("are closed that have been used longest ago, when there are more than 512", () => {
    const { open, request } = createPools();
    for (let host = 0; host < 512; host += 1) request("alice", `${host}.example`);
    expect(open()).toHaveLength(512);
    request("alice", "0.example"); // a second connection in its pool
    expect(open()).toHaveLength(511);
    expect(open()).not.toContain("alice https://1.example");
    for (let host = 0; host < 2_000; host += 1) request("mallory", `${host}.example`);
    expect(open()).toHaveLength(512);
    request("alice", "0.example");
    expect(open().slice(-2)).toEqual(["mallory https://1999.example", "alice https://0.example"]);
  });

  it("of one pool are as many as its requests need", () => {
    const { open, request } = createPools();
    for (let call = 0; call < 600; call += 1) request("alice", "a.example");
    expect(open()).toEqual(["alice https://a.example"]);
    request("bob", "a.example");
    expect(open()).toEqual(["bob https://a.example"]);
  });

  it("that are gone count no more, and an empty pool is closed", () => {
    const { opened, open, request } = createPools();
    for (let host = 0; host < 512; host += 1) request("alice", `${host}.example`);
    for (const pool of opened.slice(0, 256)) pool.emit("disconnect");
    expect(open()).toHaveLength(256);
    for (let host = 0; host < 256; host += 1) request("bob", `${host}.example`);
    expect(open()).toHaveLength(512);
    opened[300]?.emit("connectionError"); // it has another connection
    expect(open()).toHaveLength(512);
    request("carol", "fails.example");
    opened.at(-1)?.emit("disconnect");
    opened.at(-1)?.emit("connectionError");
    expect(open()).toHaveLength(511);
  });

  it("are closed, with the requests of those that were to close, when all are", async () => {
    const { pools, opened, request } = createPools();
    for (let host = 0; host < 600; host += 1) request("alice", `${host}.example`);
    await pools.destroy();
    expect(new Set(opened.map(({ state }) => state))).toEqual(new Set(["destroyed"]));
  });
});
