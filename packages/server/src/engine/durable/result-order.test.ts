import { createFakeClock } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { ResultOrder } from "./result-order.ts";

/** The order of a run after one that had two results, at 3 and 5, and emitted nothing. */
function resume() {
  const clock = createFakeClock();
  const stuck: string[] = [];
  const results = [3, 5].map((sequence) => ({ op: `step#${sequence}`, sequence, emissions: 0 }));
  const order = new ResultOrder(clock, { results, emissions: 0, sequence: 6 }, (detail) =>
    stuck.push(detail),
  );
  return { clock, order, stuck };
}

describe("the order of results", () => {
  it("waits 60 s for an executor to ask for what an earlier run was given, and says what it does not ask for", async () => {
    const { clock, order, stuck } = resume();
    void order.result(5);
    await clock.advance(59_999);
    expect(stuck).toEqual([]);
    await clock.advance(1);
    expect(stuck).toEqual(["nothing asked for step#3"]);
  });

  it("is closed when a commit fails at the moment at which that time is over", async () => {
    const { clock, order, stuck } = resume();
    const given = Promise.allSettled([order.result(5)]);
    await clock.settle();
    const failure = new Error("a commit has failed");
    Object.assign(clock, { nextTurn: () => Promise.reject(failure) });
    await clock.advance(60_000);
    expect(await given).toEqual([{ status: "rejected", reason: failure }]);
    expect(stuck).toEqual([]);
  });

  it("waits anew whenever something moves", async () => {
    const { clock, order, stuck } = resume();
    void order.caughtUp();
    await clock.advance(50_000);
    await Promise.all([order.result(3), clock.settle()]);
    await clock.advance(50_000);
    expect(stuck).toEqual([]);
    await clock.advance(10_000);
    expect(stuck).toEqual(["nothing asked for step#5"]);
  });

  it("gives nothing any more when it is closed, neither to what waits nor to what asks later", async () => {
    const { clock, order } = resume();
    const waits = [order.result(5), order.caughtUp()];
    order.close(new Error("the task has ended"));
    waits.push(order.result(3));
    const cuts = await Promise.allSettled(waits);
    expect(cuts.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await clock.settle();
    expect(clock.alarms).toBe(0);
  });

  it("lets an executor ask that is heard right after the time is over, as in a process that stood still", async () => {
    const { clock, order, stuck } = resume();
    const given = order.result(5);
    await clock.settle();
    const { nextTurn } = clock;
    let ask = () => void order.result(3);
    Object.assign(clock, {
      nextTurn: () => {
        ask();
        ask = () => {};
        return nextTurn();
      },
    });
    await clock.advance(60_000);
    await given;
    expect(stuck).toEqual([]);
  });

  it("gives a result in the turn that it was asked for, and none before it", async () => {
    const { clock, order } = resume();
    const given: number[] = [];
    const turn = Promise.withResolvers<void>();
    void order.result(5).then(() => given.push(5));
    void order.result(3, () => turn.promise).then(() => given.push(3));
    await clock.settle();
    expect(given).toEqual([]);
    turn.resolve();
    await clock.settle();
    expect(given).toEqual([3, 5]);
  });

  it("waits for a result of this run as long as it takes", async () => {
    const { clock, order, stuck } = resume();
    await Promise.all([order.result(3), order.result(5), order.caughtUp()]);
    order.add("step#7", 7);
    order.add("sleep#8", 8);
    const given: number[] = [];
    void order.result(8).then(() => given.push(8)); // step#7 is still being committed
    await clock.advance(3_600_000);
    expect([given, stuck]).toEqual([[], []]);
    void order.result(7).then(() => given.push(7));
    await clock.settle();
    expect(given).toEqual([7, 8]);
  });
});
