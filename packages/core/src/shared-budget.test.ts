import { describe, expect, it } from "vitest";
import { SharedBudget } from "./shared-budget.ts";

const full = new Error("full");

describe("a budget that callers share", () => {
  const createBudget = (max: number, maxShare = 7 / 8, small = 0) => {
    const budget = new SharedBudget({ max, maxShare, small, refuse: () => full });
    return (share: string | undefined, amount: number, isBounded = true) => {
      const holding = budget.open(share, isBounded);
      holding.add(amount);
      return holding;
    };
  };

  it("refuses what is beyond it, until a holding has ended", () => {
    const take = createBudget(100, 1);
    const first = take("alice", 60);
    expect(() => take("alice", 41)).toThrow(full);
    take("alice", 40);
    first.end();
    first.end();
    take("bob", 60);
    expect(() => take("bob", 1)).toThrow(full);
  });

  it("keeps a part of it for other callers, however much one caller has", () => {
    const take = createBudget(800);
    for (let taken = 0; taken < 7; taken += 1) take("alice", 100);
    expect(() => take("alice", 1)).toThrow(full);
    take("bob", 80);
  });

  it("does not tell callers without a name apart", () => {
    const take = createBudget(800);
    for (let taken = 0; taken < 8; taken += 1) take(undefined, 100);
    expect(() => take(undefined, 1)).toThrow(full);
  });

  it("gives any amount to one that is alone, or beside small ones only", () => {
    const take = createBudget(800, 7 / 8, 16);
    for (let taken = 0; taken < 6; taken += 1) take("bob", 16);
    const large = take("alice", 1_000);
    large.add(1_000);
    expect(() => take("bob", 17 + 800)).toThrow(full);
  });

  it("has more for small ones, also when it is used up, and bounds them", () => {
    const take = createBudget(800, 7 / 8, 16);
    for (let taken = 0; taken < 7; taken += 1) take("alice", 100);
    expect(() => take("alice", 17)).toThrow(full);
    for (let taken = 0; taken < 5; taken += 1) take("alice", 16);
    expect(() => take("alice", 16)).toThrow(full);
    const growing = take("bob", 16);
    growing.add(70);
    expect(() => growing.add(2)).toThrow(full);
    take("bob", 16);
    expect(() => take("bob", 16)).toThrow(full);
  });

  it("has no more than an eighth beyond it for the small ones of all callers, and room for the first of each", () => {
    const take = createBudget(800, 7 / 8, 16);
    const takeAll = (share: string): number => {
      let taken = 0;
      try {
        for (;;) {
          take(share, 8);
          taken += 8;
        }
      } catch {
        return taken;
      }
    };
    const callers = Array.from({ length: 20 }, (_, at) => `caller ${at}`);
    const all = callers.map(takeAll);
    expect(all.every((taken) => taken >= 16)).toBe(true);
    expect(all.reduce((sum, taken) => sum + taken)).toBeLessThanOrEqual(800 + 100 + 20 * 16);
    expect(() => take("bob", 17)).toThrow(full);
    take("bob", 16);
  });

  it.each(["alice", undefined])(
    "has room for small ones of %s beside large ones that have grown beyond the part",
    (share) => {
      const budget = new SharedBudget({ max: 800, maxShare: 7 / 8, small: 16, refuse: () => full });
      budget.open("bob").add(101);
      const growing = budget.open(share);
      growing.add(20);
      growing.grow(5_000);
      const small = Array.from({ length: 5 }, () => budget.open(share));
      for (const each of small) each.add(16);
      expect(() => budget.open(share).add(16)).toThrow(full);
      expect(() => small[0]?.add(1)).toThrow(full); // it would be small no more
      small[0]?.end();
      budget.open(share).add(16);
    },
  );

  it("counts nothing of a holding that has ended: a part of it may be given back twice", () => {
    const budget = new SharedBudget({ max: 100, maxShare: 1, refuse: () => full });
    const ended = budget.open("alice");
    ended.add(60);
    ended.end();
    ended.grow(-60);
    ended.add(200);
    budget.open("bob").add(60);
    const other = budget.open("alice");
    expect(() => other.add(41)).toThrow(full);
    other.add(40);
  });

  it("counts what was moved for the new holding alone, and the old one may take more", () => {
    const budget = new SharedBudget({ max: 100, maxShare: 1, refuse: () => full });
    const old = budget.open("alice");
    old.add(60);
    const moved = old.move();
    expect([old.amount, moved.amount]).toEqual([0, 60]);
    expect(() => old.add(41)).toThrow(full);
    old.add(40);
    old.end();
    moved.add(40);
    moved.end();
    expect(budget.hasAny("alice")).toBe(false);
  });

  it("tells when callers have taken nearly all, which no caller does alone, and when they have far more than there is", () => {
    const budget = new SharedBudget({ max: 6_400, maxShare: 7 / 8, refuse: () => full });
    const tell = () => [budget.isTaken, budget.isOverdrawn(2, 10)];
    budget.open("alice").grow(12_790);
    expect(tell()).toEqual([false, false]);
    budget.open("alice").grow(1);
    budget.open("bob").grow(700);
    expect(tell()).toEqual([false, true]);
    const carol = budget.open("carol");
    carol.grow(1);
    expect(tell()).toEqual([true, true]);
    carol.end();
    expect(tell()).toEqual([false, true]);
  });

  it("counts without refusing what is not bounded", () => {
    const take = createBudget(100, 1);
    take("alice", 90);
    take("alice", 90, false);
    expect(() => take("bob", 17)).toThrow(full);
  });

  it("leaves a caller what it has, and some room to grow, when others take their parts", () => {
    const budget = new SharedBudget({ max: 800, maxShare: 7 / 8, refuse: () => full });
    const first = budget.open("alice");
    first.add(440);
    budget.open("bob").add(300);
    first.grow(50);
    expect(budget.isExceeded("alice")).toBe(false);
    first.grow(1);
    expect([budget.isExceeded("alice"), budget.isExceeded("alice", 2)]).toEqual([true, false]);
  });

  it("does not count against a caller what its small holdings have beyond its part", () => {
    const budget = new SharedBudget({ max: 800, maxShare: 7 / 8, small: 16, refuse: () => full });
    for (const other of ["alice", "bob", "carol"])
      budget.open(other).add(690 / 8 ** ["alice", "bob", "carol"].indexOf(other));
    const small = Array.from({ length: 4 }, () => budget.open("dave"));
    for (const one of small) one.add(16);
    expect(budget.isExceeded("dave")).toBe(false);
    small[0]?.grow(100);
    expect(budget.isExceeded("dave")).toBe(true);
  });

  it("leaves other callers their part, however much the holdings of one grow", () => {
    const budget = new SharedBudget({ max: 800, maxShare: 7 / 8, refuse: () => full });
    const growing = budget.open("alice");
    growing.grow(5_000);
    expect([budget.isExceeded("alice"), budget.isExceeded("alice", 8), budget.isExceeded("bob")]).toEqual([
      true,
      false,
      false,
    ]);
    const others = budget.open("bob");
    others.add(80);
    expect(() => others.add(10)).toThrow(full);
    expect(() => growing.add(1)).toThrow(full);
    growing.grow(-4_400);
    expect(budget.isExceeded("alice")).toBe(false);
    growing.end();
    others.add(620);
  });
});
