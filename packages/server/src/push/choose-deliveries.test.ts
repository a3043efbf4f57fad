import { createPushConfig } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Delivery, DueDeliveries } from "../store/task-store.ts";
import { chooseDeliveries, type DeliveryChoice } from "./choose-deliveries.ts";

interface DeliveryInit {
  readonly attempts?: number;
  readonly host?: string;
  readonly caller?: string;
  readonly bytes?: number;
}

function deliveryOf(number: number, init: DeliveryInit = {}): Delivery {
  const { attempts = 0, host = `host-${number}.example`, caller = "alice", bytes = 10 } = init;
  const config = createPushConfig("task-1", `hook-${number}`, `https://${host}/hook`);
  const owner = { tenant: "", principal: caller };
  return { number, owner, taskId: "task-1", config, next: 1, bytes, attempts, dueAt: attempts };
}

/** Deliveries with the numbers from `first` to `last`. */
function deliveriesOf(first: number, last: number, init: DeliveryInit = {}): readonly Delivery[] {
  return Array.from({ length: last - first + 1 }, (_, at) => deliveryOf(first + at, init));
}

const shareOf = ({ owner }: Delivery) => owner.principal;

interface Circumstances {
  readonly running?: readonly Delivery[];
  readonly others?: readonly Delivery[];
  readonly maxConcurrent?: number;
  readonly maxConcurrentBytes?: number;
}

function decide(due: Partial<DueDeliveries>, circumstances: Circumstances): DeliveryChoice {
  const { running = [], others = [], maxConcurrent = 4, maxConcurrentBytes = 2 ** 20 } = circumstances;
  const toAttempt = (delivery: Delivery) => ({ delivery, share: shareOf(delivery), bytes: delivery.bytes });
  return chooseDeliveries(
    { fresh: [], retries: [], nextAt: undefined, ...due },
    {
      running: running.map(toAttempt),
      others: others.map(toAttempt),
      maxConcurrent,
      maxConcurrentBytes,
      maxShare: 7 / 8,
      shareOf,
    },
  );
}

function choose(due: Partial<DueDeliveries>, circumstances: Circumstances = {}) {
  const { start, last, hasRoom } = decide(due, circumstances);
  return { start: start.map(({ delivery }) => delivery.number), last, hasRoom };
}

it("the choice does not parse the paths of webhooks, which may be long", () => {
  const parse = vi.spyOn(URL, "parse");
  onTestFinished(() => parse.mockRestore());
  const fresh = deliveriesOf(1, 100, { host: `slow.example:8443/${"a/".repeat(5_000)}` });
  expect(choose({ fresh }).start).toEqual([1, 2]); // half of the requests: all are at one origin
  const longest = Math.max(...parse.mock.calls.map(([text]) => String(text).length));
  expect(longest).toBeLessThan(100);
});

describe("the choice among due deliveries", () => {
  const fresh = deliveriesOf(1, 5);
  const failing = deliveriesOf(6, 8, { attempts: 1 });

  it("leaves out what is under way, which keeps its place", () => {
    expect(choose({ fresh }, { running: [deliveryOf(1), deliveryOf(3)] })).toEqual({
      start: [2, 4],
      last: 4,
      hasRoom: false,
    });
  });

  it("parses the URL of each delivery once, and none with a host that is longer than a domain name", () => {
    const parse = vi.spyOn(URL, "parse");
    onTestFinished(() => parse.mockRestore());
    const stored = deliveryOf(9, { host: "\u4e00".repeat(262) }); // an older version has stored it
    choose({ fresh: [...fresh, stored] }, { running: [deliveryOf(10)], maxConcurrent: 9 });
    expect(parse).toHaveBeenCalledTimes(fresh.length + 1);
  });

  it("says whose turn was last, and whether places are left", () => {
    expect(choose({ fresh })).toEqual({ start: [1, 2, 3, 4], last: 4, hasRoom: false });
    expect(choose({ fresh: fresh.slice(3) })).toEqual({ start: [4, 5], last: 5, hasRoom: true });
    expect(choose({})).toEqual({ start: [], last: undefined, hasRoom: true });
  });

  it("says which repeated attempt was last, and whether places are left for more", () => {
    const last = (init: Partial<DueDeliveries>, circumstances: Circumstances = {}) => {
      const { lastRetry, hasRetryRoom } = decide(init, circumstances);
      return [lastRetry?.number, hasRetryRoom];
    };
    expect(last({ retries: failing })).toEqual([7, false]);
    expect(last({ retries: failing.slice(0, 1), fresh })).toEqual([6, true]);
    expect(last({ retries: failing }, { running: failing.slice(0, 1) })).toEqual([7, false]);
    expect(last({ retries: failing }, { maxConcurrent: 8 })).toEqual([8, true]);
    expect(last({ retries: failing }, { running: fresh.slice(0, 4) })).toEqual([undefined, false]);
    expect(last({ fresh })).toEqual([undefined, true]);
  });

  it("keeps places for those that do not fail, and the others for those that do", () => {
    expect(choose({ fresh, retries: failing }).start).toEqual([6, 7, 1, 2]);
    expect(choose({ fresh, retries: failing }, { running: [deliveryOf(9, { attempts: 2 })] }).start).toEqual([
      6, 1, 2,
    ]);
    expect(choose({ retries: failing }).start).toEqual([6, 7]);
  });

  it("gives one origin half of the places at most, counting all that is under way", () => {
    const slow = deliveriesOf(11, 13, { host: "slow.example" });
    expect(choose({ fresh: slow })).toEqual({ start: [11, 12], last: 13, hasRoom: true });
    expect(choose({ fresh: [...slow, ...fresh] })).toEqual({
      start: [11, 12, 1, 2],
      last: 2,
      hasRoom: false,
    });
    const retry = deliveryOf(14, { attempts: 3, host: "slow.example" });
    expect(
      choose({ fresh: slow, retries: [retry] }, { running: [deliveryOf(15, { host: "slow.example" })] }),
    ).toEqual({
      start: [14],
      last: 13,
      hasRoom: true,
    });
  });

  it("keeps half of an origin's places for those that do not fail there", () => {
    const [host, maxConcurrent] = ["mixed.example", 8];
    const retries = deliveriesOf(1, 5, { attempts: 1, host });
    expect(choose({ retries, fresh: deliveriesOf(6, 10, { host }) }, { maxConcurrent }).start).toEqual([
      1, 2, 6, 7,
    ]);
  });

  it("leaves what has failed a moment ago its place, and its next attempt another", () => {
    const retries = failing.slice(0, 1);
    expect(choose({ fresh, retries }, { others: retries, maxConcurrent: 8 }).start).toEqual([
      6, 1, 2, 3, 4, 5,
    ]);
    expect(choose({ fresh }, { others: deliveriesOf(11, 12) }).start).toEqual([1, 2]);
  });

  it("gives one origin a place even when there is only one", () => {
    expect(choose({ fresh }, { maxConcurrent: 1 }).start).toEqual([1]);
  });

  for (const [what, init, due, mallorys, bobs] of [
    ["requests, whatever origins they name", {}, "fresh", 14, 2],
    ["repeated attempts", { attempts: 1 }, "retries", 7, 1],
    ["requests to one origin", { host: "popular.example" }, "fresh", 7, 1],
    ["bytes", { bytes: 100 * 1024 }, "fresh", 7, 1],
  ] as const) {
    it(`leaves a part of the ${what} to other callers`, () => {
      const limits = { maxConcurrent: 16, maxConcurrentBytes: 800 * 1024 };
      const mallory = deliveriesOf(1, 40, { ...init, caller: "mallory" });
      const bob = deliveriesOf(41, 50, { ...init, caller: "bob" });
      const { start } = choose({ [due]: [...mallory, ...bob] }, limits);
      expect(start.filter((number) => number <= 40)).toHaveLength(mallorys);
      expect(start.filter((number) => number > 40)).toHaveLength(bobs);
      const later = choose({ [due]: bob }, { ...limits, running: mallory.slice(0, mallorys) });
      expect(later.start).toHaveLength(bobs);
    });
  }

  it("begins a notification of any size, but none beside one that takes all bytes, except small ones", () => {
    const large = deliveriesOf(1, 3, { bytes: 5 * 2 ** 20 });
    const small = deliveryOf(4, { bytes: 16 * 1024 });
    expect(choose({ fresh: [...large, small] }).start).toEqual([1, 4]);
    const running = [deliveryOf(5, { bytes: 2 ** 20, caller: "bob" })];
    expect(choose({ fresh: [...large, small] }, { running }).start).toEqual([4]);
  });
});
