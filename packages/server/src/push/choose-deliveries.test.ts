import { alice, createPushConfig } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import type { Delivery, DueDeliveries } from "../store/task-store.ts";
import { chooseDeliveries, type SenderState } from "./choose-deliveries.ts";

function deliveryOf(number: number, attempts = 0, host = `host-${number}.example`): Delivery {
  const config = createPushConfig("task-1", `hook-${number}`, `https://${host}/hook`);
  return { number, owner: alice, taskId: "task-1", config, next: 1, bytes: 10, attempts, dueAt: attempts };
}

function choose(due: Partial<DueDeliveries>, state: Partial<SenderState> = {}) {
  const idle: SenderState = { running: [], maxConcurrent: 4 };
  const all: DueDeliveries = { fresh: [], retries: [], nextAt: undefined, ...due };
  const { start, ...rest } = chooseDeliveries(all, { ...idle, ...state });
  return { start: start.map(({ number }) => number), ...rest };
}

describe("the choice among due deliveries", () => {
  const fresh = [1, 2, 3, 4, 5].map((number) => deliveryOf(number));
  const failing = [6, 7, 8].map((number) => deliveryOf(number, 1));

  it("leaves out what is under way, which keeps its place", () => {
    expect(choose({ fresh }, { running: [deliveryOf(1), deliveryOf(3)] })).toEqual({
      start: [2, 4],
      last: 4,
      hasRoom: false,
    });
  });

  it("says whose turn was last, and whether places are left", () => {
    expect(choose({ fresh })).toEqual({ start: [1, 2, 3, 4], last: 4, hasRoom: false });
    expect(choose({ fresh: fresh.slice(3) })).toEqual({ start: [4, 5], last: 5, hasRoom: true });
    expect(choose({})).toEqual({ start: [], last: undefined, hasRoom: true });
  });

  it("keeps places for those that do not fail, and the others for those that do", () => {
    expect(choose({ fresh, retries: failing }).start).toEqual([6, 7, 1, 2]);
    expect(choose({ fresh, retries: failing }, { running: [deliveryOf(9, 2)] }).start).toEqual([6, 1, 2]);
    expect(choose({ retries: failing }).start).toEqual([6, 7]);
  });

  it("gives one origin half of the places at most, counting all that is under way", () => {
    const slow = [11, 12, 13].map((number) => deliveryOf(number, 0, "slow.example"));
    expect(choose({ fresh: slow })).toEqual({ start: [11, 12], last: 13, hasRoom: true });
    expect(choose({ fresh: [...slow, ...fresh] })).toEqual({
      start: [11, 12, 1, 2],
      last: 2,
      hasRoom: false,
    });
    const retry = deliveryOf(14, 3, "slow.example");
    expect(
      choose({ fresh: slow, retries: [retry] }, { running: [deliveryOf(15, 0, "slow.example")] }),
    ).toEqual({
      start: [14],
      last: 13,
      hasRoom: true,
    });
  });

  it("gives one origin a place even when there is only one", () => {
    expect(choose({ fresh }, { maxConcurrent: 1 }).start).toEqual([1]);
  });
});
