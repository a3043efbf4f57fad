import { alice, createPushConfig } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import type { Delivery } from "../store/task-store.ts";
import { chooseDeliveries, type SenderState } from "./choose-deliveries.ts";

const now = 1_000_000;
const idle: SenderState = { now, running: new Set(), places: 4, retryPlaces: 2, last: 0, maxDelayMs: 60_000 };

function deliveryOf(number: number, attempts = 0, dueAt = 0): Delivery {
  const config = createPushConfig("task-1", `hook-${number}`);
  return { number, owner: alice, taskId: "task-1", config, next: 1, attempts, dueAt };
}

function choose(page: readonly Delivery[], state: Partial<SenderState> = {}) {
  const { start, nextAt } = chooseDeliveries(page, { ...idle, ...state });
  return { start: start.map(({ number }) => number), nextAt };
}

describe("the choice among due deliveries", () => {
  it("leaves out what is under way, and what is not due", () => {
    const page = [deliveryOf(1), deliveryOf(2), deliveryOf(3, 1, now), deliveryOf(4, 1, now + 1)];
    expect(choose(page, { running: new Set([1]) })).toEqual({ start: [3, 2], nextAt: now + 1 });
  });

  it("takes turns from the one whose turn was last", () => {
    const page = [1, 2, 3, 4, 5].map((number) => deliveryOf(number));
    expect(choose(page, { places: 2 }).start).toEqual([1, 2]);
    expect(choose(page, { places: 2, last: 2 }).start).toEqual([3, 4]);
    expect(choose(page, { places: 2, last: 4 }).start).toEqual([5, 1]);
  });

  it("keeps places for those that do not fail, and the others for those that do", () => {
    const failing = [6, 7, 8].map((number) => deliveryOf(number, 1, now - 10 + number));
    const fresh = [1, 2, 3, 4, 5].map((number) => deliveryOf(number));
    expect(choose([...fresh, ...failing]).start).toEqual([6, 7, 1, 2]);
    expect(choose([...fresh, ...failing], { retryPlaces: 0 }).start).toEqual([1, 2, 3, 4]);
    expect(choose(failing).start).toEqual([6, 7]);
  });

  it("does not wait for a time that only a clock before it was set back can have meant", () => {
    const page = [deliveryOf(1, 3, now + 60_000), deliveryOf(2, 3, now + 60_001)];
    expect(choose(page)).toEqual({ start: [2], nextAt: now + 60_000 });
  });
});
