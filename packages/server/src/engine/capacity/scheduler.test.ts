import { findA2AError, type Priority } from "@a2a-connect/core";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { AgentDefinition, CapacityDefinition } from "../../agent/agent-definition.ts";
import { systemClock } from "../clock.ts";
import { defaultEngineLimits, type EngineLimits, type LogRecord } from "../engine-context.ts";
import { CallerBudgets } from "./caller-budgets.ts";
import { type Runnable, Scheduler, type StartResult } from "./scheduler.ts";

interface Setup extends CapacityDefinition {
  readonly limits?: Partial<EngineLimits>;
  readonly skills?: Readonly<Record<string, CapacityDefinition>>;
}

interface Work extends Runnable {
  readonly name: string;
  finish(): Promise<void>;
}

/** A scheduler whose work begins and ends when a test says so. `running` has the names in the order of their begin. */
function schedule(
  { limits, skills = {}, ...capacity }: Setup,
  pace: { turn(share: string | undefined): Promise<void> | undefined } = { turn: () => undefined },
  beginTurns = new CallerBudgets(defaultEngineLimits, { clock: systemClock, log: () => {} }).beginTurns,
) {
  const running: string[] = [];
  const logged: LogRecord[] = [];
  let now = 0;
  const agent: AgentDefinition = {
    card: {
      name: "Agent",
      skills: Object.entries(skills).map(([id, own]) => ({ id, name: id, description: id, ...own })),
    },
    execute: () => [],
    ...capacity,
  };
  const parts = {
    agent,
    limits: { ...defaultEngineLimits, ...limits },
    clock: { ...systemClock, now: () => now },
    log: (record: LogRecord) => logged.push(record),
    beginTurns,
  };
  const scheduler = new Scheduler(parts, pace);
  function work(name: string, skill?: string, priority: Priority = "normal", share?: string): Work {
    const end = Promise.withResolvers<void>();
    return {
      name,
      skill,
      priority,
      share,
      async run() {
        running.push(name);
        await end.promise;
        running.splice(running.indexOf(name), 1);
      },
      async finish() {
        end.resolve();
        for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      },
    };
  }
  return {
    scheduler,
    running,
    logged,
    work,
    start: (...args: Parameters<typeof work>): StartResult => scheduler.start(work(...args)),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe("the scheduler", () => {
  it("lets a skill at its limit hold up nobody else, however many of its tasks wait", async () => {
    const { scheduler, running, work, start } = schedule({
      maxRunning: 3,
      skills: { slow: { maxRunning: 1 } },
    });
    const first = work("slow 1", "slow");
    scheduler.start(first);
    for (let at = 2; at <= 10; at += 1) expect(start(`slow ${at}`, "slow", "high")).toBe("queued");
    const other = work("other 1");
    expect(scheduler.start(other)).toBe("running");
    expect(start("other 2")).toBe("running");
    expect(start("other 3", undefined, "low")).toBe("queued");
    await other.finish();
    expect(running).toEqual(["slow 1", "other 2", "other 3"]);
    await first.finish();
    expect(running).toEqual(["other 2", "other 3", "slow 2"]);
  });

  it("gives away the place of work that breaks off, and says so in the log", async () => {
    const { scheduler, running, logged, work, start } = schedule({ maxRunning: 1 });
    const failure = new Error("xyzzy");
    scheduler.start({ ...work("broken"), run: () => Promise.reject(failure) });
    expect(start("next")).toBe("queued");
    await Promise.resolve();
    expect(running).toEqual(["next"]);
    expect(logged).toMatchObject([{ level: "error", error: failure }]);
  });

  it("gives a place to the highest priority, and among equals to the oldest, over all skills", async () => {
    const { scheduler, running, work, start } = schedule({ maxRunning: 1, skills: { a: {}, b: {} } });
    let last = work("first");
    scheduler.start(last);
    const waiting = [
      work("1", "a", "low"),
      work("2", "b"),
      work("3", "a"),
      work("4"),
      work("5", "b", "high"),
      work("6", "a", "high"),
    ];
    for (const each of waiting) scheduler.start(each);
    expect(start("7", "a", "low")).toBe("queued");
    for (const next of ["5", "6", "2", "3", "4", "1", "7"]) {
      await last.finish();
      expect(running).toEqual([next]);
      last = waiting.find(({ name }) => name === next) ?? last;
    }
  });

  for (const [whose, setup, skill] of [
    ["its skill", { maxRunning: 1, skills: { a: { maxQueued: 2 } } }, "a"],
    ["its agent", { maxRunning: 1, maxQueued: 2, skills: { a: {} } }, "a"],
    ["its agent, without a skill", { maxRunning: 1, maxQueued: 2 }, undefined],
    [
      "its agent, which allows as many as the process",
      { maxRunning: 1, maxQueued: 2, limits: { maxQueued: 2 } },
      undefined,
    ],
  ] as const) {
    it(`refuses work when as much waits as ${whose} allows, but never what was promised`, () => {
      const { scheduler, work, start } = schedule(setup);
      expect(["1", "2", "3", "4"].map((name) => start(name, skill))).toEqual([
        "running",
        "queued",
        "queued",
        "refused",
      ]);
      const promised = work("promised", skill);
      expect(scheduler.start(promised, "always")).toBe("queued");
      expect(scheduler.withdraw(promised)).toBe(true);
      expect(scheduler.withdraw(promised)).toBe(false);
      expect(start("5", skill)).toBe("refused");
    });
  }

  it("keeps no waiting slot for what was promised: it takes none from others", () => {
    const { scheduler, work, start } = schedule({ maxRunning: 1, maxQueued: 2, limits: { maxQueued: 2 } });
    start("running");
    for (const name of ["1", "2", "3"]) scheduler.start(work(name), "always");
    expect(["4", "5", "6"].map((name) => start(name))).toEqual(["queued", "queued", "refused"]);
  });

  it("takes work of other skills while one skill's queue is full", () => {
    const { start } = schedule({ skills: { a: { maxRunning: 1, maxQueued: 0 }, b: {} } });
    expect([start("1", "a"), start("2", "a"), start("3", "b"), start("4")]).toEqual([
      "running",
      "refused",
      "running",
      "running",
    ]);
  });

  it("refuses with CAPACITY what the process cannot hold, whatever the agent allows", () => {
    const { start } = schedule({ maxRunning: 5, maxQueued: 5, limits: { maxRunning: 1, maxQueued: 1 } });
    expect([start("1"), start("2")]).toEqual(["running", "queued"]);
    let refusal: unknown;
    try {
      start("3");
    } catch (error) {
      refusal = error;
    }
    expect(findA2AError(refusal)?.reason).toBe("CAPACITY");
  });

  it("tells when to try again from how long runs take and how many wait, of the skill or of the agent", async () => {
    const { scheduler, work, start, pass } = schedule({
      maxRunning: 4,
      maxQueued: 6,
      skills: { a: { maxRunning: 2, maxQueued: 3 } },
    });
    const first = work("first", "a");
    scheduler.start(first);
    pass(10_000);
    await first.finish();
    for (const name of ["1", "2", "3", "4", "5"]) start(name, "a");
    expect(start("6", "a")).toBe("refused");
    expect(scheduler.retryAfterSeconds("a")).toBe(20); // 10 s × (3 + 1) / 2
    for (const name of ["1", "2", "3", "4", "5"]) start(name);
    expect(start("6")).toBe("refused");
    expect(scheduler.retryAfterSeconds(undefined)).toBe(18); // 10 s × (6 + 1) / 4
  });

  it("keeps places for others: one caller has seven eighths, the next as much of the rest", () => {
    const { running, start } = schedule({ maxRunning: 80 });
    const fill = (share: string) => {
      for (let at = 0; at < 100; at += 1) start(share, undefined, "normal", share);
      return running.filter((name) => name === share).length;
    };
    expect(fill("one")).toBe(70);
    expect(fill("two")).toBe(9);
    expect(fill("three")).toBe(1);
  });

  it("bounds nobody where there are few places, and none whose caller is not known", () => {
    const few = schedule({ maxRunning: 7 });
    for (let at = 0; at < 10; at += 1) few.start(`${at}`, undefined, "normal", "one");
    expect(few.running).toHaveLength(7);
    const unknown = schedule({ maxRunning: 80 });
    for (let at = 0; at < 100; at += 1) unknown.start(`${at}`);
    expect(unknown.running).toHaveLength(80);
  });

  it("refuses a caller that has its share of the queue, says so, and queues others", () => {
    const { start } = schedule({ maxRunning: 1, limits: { maxQueued: 80 } });
    const fill = () => {
      for (let at = 0; ; at += 1) {
        try {
          start(`${at}`, undefined, "normal", "one");
        } catch (error) {
          return { begun: at, error };
        }
      }
    };
    const { begun, error } = fill();
    const { reason, metadata } = findA2AError(error) ?? {};
    expect([begun, reason, metadata?.["retryAfterSeconds"]]).toEqual([71, "CAPACITY", "71"]);
    expect(String(error)).toContain("your own share of the places is used up");
    expect(start("other", undefined, "normal", "two")).toBe("queued");
    expect(start("unknown")).toBe("queued");
  });

  it("serves callers in turns, and passes over one at its limit", async () => {
    const { scheduler, running, work, start } = schedule({ maxRunning: 9 });
    const first = Array.from({ length: 11 }, (_, at) => work(`a${at}`, undefined, "normal", "a"));
    for (const each of first) scheduler.start(each);
    for (let at = 0; at < 3; at += 1) start(`b${at}`, undefined, "normal", "b");
    start("c0", undefined, "normal", "c");
    expect(running).toEqual(["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "b0"]);
    for (const each of first.slice(0, 3)) await each.finish();
    expect(running.slice(5)).toEqual(["b0", "c0", "a8", "b1"]);
  });

  it("gives what one end makes room for to all that may have it, not to one alone", async () => {
    const { scheduler, running, work } = schedule({ maxRunning: 8, limits: { maxShare: 0.75 } });
    const begin = (share: string, count: number) =>
      Array.from({ length: count }, (_, at) => {
        const each = work(`${share}${at}`, undefined, "normal", share);
        scheduler.start(each);
        return each;
      });
    const [, a1, a2] = begin("a", 7); // six run, one waits
    const [b0] = begin("b", 5); // two run, three wait
    await a1?.finish();
    await a2?.finish();
    expect(running).toEqual(["a0", "a3", "a4", "a5", "b0", "b1", "b2"]);
    // With two places free `a` may have one, and `b` the other: it is below three times as many as are free then.
    await b0?.finish();
    expect(running).toEqual(["a0", "a3", "a4", "a5", "b1", "b2", "a6", "b3"]);
  });

  it("gives callers their turns, also where one asks for a high priority and the others for none", async () => {
    const { scheduler, running, work } = schedule({ maxRunning: 1 });
    const all = [
      ...Array.from({ length: 6 }, (_, at) => work(`a${at}`, undefined, "high", "a")),
      work("b low", undefined, "low", "b"),
      work("b high", undefined, "high", "b"),
      work("c low", undefined, "low", "c"),
      work("nameless"),
    ];
    for (const each of all) scheduler.start(each);
    const order: string[] = [];
    for (let at = 0; at < all.length; at += 1) {
      order.push(...running);
      await all.find(({ name }) => name === running[0])?.finish();
    }
    expect(order).toEqual(["a0", "b high", "c low", "nameless", "a1", "b low", "a2", "a3", "a4", "a5"]);
  });

  it("lets callers that come back pass by none that waits", async () => {
    const { scheduler, running, work } = schedule({ maxRunning: 1 });
    const byName = new Map<string, Work>();
    const send = (share: string, at: number) => {
      const name = `${share}${at}`;
      byName.set(name, work(name, undefined, "normal", share));
      scheduler.start(byName.get(name) ?? work(name));
    };
    for (const at of [0, 1, 2]) send("batch", at);
    for (const share of ["c", "d"]) send(share, 0);
    const order: string[] = [];
    for (let at = 0; at < 7; at += 1) {
      const [name = ""] = running;
      order.push(name);
      await byName.get(name)?.finish();
      const [, share = "", number] = /^([cd])(\d)$/.exec(name) ?? [];
      if (share !== "") send(share, Number(number) + 1);
    }
    expect(order).toEqual(["batch0", "c0", "d0", "batch1", "c1", "d1", "batch2"]);
  });

  it("keeps places of a skill for others, as it keeps those of the agent", () => {
    const { running, start } = schedule({ skills: { a: { maxRunning: 80, maxQueued: 80 } } });
    for (const share of ["one", "two"]) {
      const fill = () => {
        for (let at = 0; at < 200; at += 1) start(share, "a", "high", share);
      };
      expect(fill).toThrow("your own share of the places is used up");
    }
    expect([start("three", "a", "low", "three"), start("three", "a", "low", "three")]).toEqual([
      "running",
      "queued",
    ]);
    const places = ["one", "two", "three"].map((share) => running.filter((name) => name === share).length);
    expect(places).toEqual([70, 9, 1]);
  });

  it("lets others begin while the next of a caller waits for its turn to begin", async () => {
    const turn = Promise.withResolvers<void>();
    let isSlow = false;
    const pace = {
      turn: (share: string | undefined) => (isSlow && share === "alice" ? turn.promise : undefined),
    };
    const { scheduler, work, running } = schedule({ maxRunning: 2 }, pace);
    const first = [work("a1", undefined, "normal", "alice"), work("a2", undefined, "normal", "alice")];
    for (const each of first) scheduler.start(each);
    scheduler.start(work("a3", undefined, "normal", "alice"));
    const [bob, carol] = ["bob", "carol"].map((name) => work(name, undefined, "normal", name));
    for (const each of [bob, carol]) if (each !== undefined) scheduler.start(each);
    isSlow = true;
    await first[0]?.finish();
    expect(running).toEqual(["a2", "bob"]);
    await first[1]?.finish();
    expect(running).toEqual(["bob", "carol"]);
    await bob?.finish();
    turn.resolve();
    await carol?.finish();
    expect(running).toEqual(["a3"]);
  });

  it("looks at the next caller alone, however many wait", async () => {
    const looksPerEnd = async (callers: number) => {
      const { scheduler, running, work } = schedule({ maxRunning: 1 });
      let looks = 0;
      const all = Array.from({ length: callers }, (_, at) => {
        return Object.defineProperty(work(`${at}`), "share", {
          get() {
            looks += 1;
            return `caller ${at}`;
          },
        });
      });
      for (const each of all) scheduler.start(each);
      looks = 0;
      for (const each of all.slice(0, 20)) await each.finish();
      expect(running).toEqual(["20"]);
      return looks / 20;
    };
    expect(await looksPerEnd(2_000)).toBe(await looksPerEnd(50));
  });

  describe.each([true, false])("with many skills, and callers that may begin (%s)", (mayBegin) => {
    /** How often it looks at work, and asks whether a caller may begin, while `ends` end. */
    async function count(skills: number, ends: number) {
      const beginTurns = new CallerBudgets(defaultEngineLimits, { clock: systemClock, log: () => {} })
        .beginTurns;
      const ids = Array.from({ length: skills }, (_, at) => `skill ${at}`);
      const { scheduler, work } = schedule(
        { maxRunning: ends, skills: Object.fromEntries(ids.map((id) => [id, { maxRunning: 2 }])) },
        undefined,
        beginTurns,
      );
      const first = Array.from({ length: ends }, (_, at) =>
        work("first", undefined, "normal", `early ${at}`),
      );
      for (const each of first) scheduler.start(each);
      let looks = 0;
      for (const id of ids) {
        for (const caller of ["a", "b", "c"]) {
          const waiting = Object.defineProperty(work("next", id), "share", {
            get() {
              looks += 1;
              return caller;
            },
          });
          scheduler.start(waiting, "always");
        }
      }
      looks = 0;
      let asks = 0;
      vi.spyOn(beginTurns, "may").mockImplementation(() => {
        asks += 1;
        return mayBegin;
      });
      for (const each of first) await each.finish();
      return { looks, asks };
    }

    it("asks about each caller once, and not for each skill", async () => {
      const few = await count(10, 8);
      expect(await count(400, 8)).toEqual(few);
      expect(await count(400, 16)).toEqual({ looks: few.looks * 2, asks: few.asks * 2 });
    });
  });

  it("passes over the work of a caller that may not begin yet, to what waits for memory by itself", async () => {
    const beginTurns = new CallerBudgets(defaultEngineLimits, { clock: systemClock, log: () => {} })
      .beginTurns;
    let mayBegin = true;
    const may = vi.spyOn(beginTurns, "may").mockImplementation(() => mayBegin);
    const { scheduler, running, work } = schedule(
      { maxRunning: 1, skills: { a: {} } },
      undefined,
      beginTurns,
    );
    const last = work("first");
    scheduler.start(last);
    for (let at = 0; at < 1_000; at += 1) scheduler.start(work(`new ${at}`, undefined, "high"));
    const begun = ["low", "normal", "normal"].map((priority, at) =>
      Object.assign(work(`begun ${at}`, at === 1 ? "a" : undefined, priority as Priority), {
        waitsForRoom: true,
      }),
    );
    for (const each of begun) scheduler.start(each, "always");
    mayBegin = false;
    may.mockClear();
    for (const [end, next] of [
      [last, "begun 1"],
      [begun[1], "begun 2"],
      [begun[2], "begun 0"],
    ] as const) {
      await end?.finish();
      expect(running).toEqual([next]);
    }
    expect(may.mock.calls.length).toBeLessThan(20);
    mayBegin = true;
    await begun[0]?.finish();
    expect(running).toEqual(["new 0"]);
  });

  it("serves what was told to stop before the other work of its caller, and after other callers", async () => {
    const { scheduler, running, work } = schedule({ maxRunning: 1, skills: { a: {} } });
    const stopping = (name: string, isStopping: boolean) =>
      Object.assign(work(name, "a", "low", "alice"), { isStopping });
    const [late, early] = [stopping("late", false), stopping("early", true)];
    const [first, high, other] = [
      work("first", undefined, "normal", "alice"),
      work("high", undefined, "high", "alice"),
      work("other", undefined, "normal", "bob"),
    ];
    for (const each of [first, high, other, late, early]) scheduler.start(each);
    late.isStopping = true;
    scheduler.hurry(late);
    scheduler.hurry(late);
    scheduler.hurry(first); // it runs
    const order: string[] = [];
    for (const each of [first, other, early, late, high]) {
      order.push(...running);
      await each.finish();
    }
    expect([order, running]).toEqual([["first", "other", "early", "late", "high"], []]);
  });

  it("serves as a simple model does (property)", async () => {
    const skill = fc.constantFrom("a", "b", undefined);
    const priority = fc.constantFrom<Priority>("low", "normal", "high");
    const share = fc.constantFrom("x", "y", "z", undefined);
    const command = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("start" as const), skill, priority, share }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("finish" as const), at: fc.nat(5) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("withdraw" as const), at: fc.nat(20) }) },
    );
    const setup = {
      maxRunning: 5,
      maxQueued: 12,
      skills: { a: { maxRunning: 1, maxQueued: 4 }, b: { maxRunning: 3 } },
      limits: { maxShare: 0.6 },
    };
    const most: Readonly<Record<string, number>> = { a: 1, b: 3 };
    const timesFree = 0.6 / (1 - 0.6);
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 40, maxLength: 80 }), async (commands) => {
        const { scheduler, running, work } = schedule(setup);
        const rank = { high: 0, normal: 1, low: 2 };
        const busy: Work[] = [];
        const idle: Work[] = [];
        const places = new Map<string | undefined, { servedAt: number; came: number }>();
        const ofCaller = (list: Work[], caller?: string) => list.filter((each) => each.share === caller);
        const mayTake = (taken: Work[], all: number, caller: string | undefined) =>
          taken.length < all &&
          (caller === undefined || ofCaller(taken, caller).length < timesFree * (all - taken.length));
        const ofSkill = (list: Work[], of: string | undefined) => list.filter((each) => each.skill === of);
        const mayRun = ({ skill: of, share: caller }: Work) =>
          mayTake(busy, 5, caller) && mayTake(ofSkill(busy, of), most[of ?? ""] ?? 1_000, caller);
        const mayWait = ({ skill: of, share: caller }: Work) =>
          mayTake(idle, 12, caller) && (of !== "a" || mayTake(ofSkill(idle, of), 4, caller));
        let runs = 0;
        let came = 0;
        const placeOf = ({ share: caller }: Work) => places.get(caller) ?? { servedAt: 0, came: 0 };
        const add = (list: Work[], one: Work) => {
          list.push(one);
          if (!places.has(one.share)) places.set(one.share, { servedAt: runs - 0.5, came: ++came });
        };
        const remove = (list: Work[], one: Work) => {
          list.splice(list.indexOf(one), 1);
          if (ofCaller([...busy, ...idle], one.share).length === 0) places.delete(one.share);
        };
        const run = (next: Work) => {
          add(busy, next);
          places.set(next.share, { servedAt: ++runs, came: 0 });
        };
        for (const [index, step] of commands.entries()) {
          if (step.kind === "start") {
            const next = work(`${index}`, step.skill, step.priority, step.share);
            const full =
              idle.length >= 12 ||
              (step.skill === "a" && idle.filter((each) => each.skill === "a").length >= 4);
            if (!mayRun(next) && !full && !mayWait(next)) {
              expect(() => scheduler.start(next)).toThrow("your own share");
              continue;
            }
            const place = mayRun(next) ? "running" : full ? "refused" : "queued";
            expect(scheduler.start(next)).toBe(place);
            if (place === "running") run(next);
            else if (place === "queued") add(idle, next);
          } else if (step.kind === "finish") {
            const done = busy[step.at];
            if (done === undefined) continue;
            await done.finish();
            remove(busy, done);
            for (;;) {
              const [next] = idle
                .filter(mayRun)
                .sort(
                  (one, other) =>
                    placeOf(one).servedAt - placeOf(other).servedAt ||
                    placeOf(one).came - placeOf(other).came ||
                    rank[one.priority] - rank[other.priority],
                );
              if (next === undefined) break;
              idle.splice(idle.indexOf(next), 1);
              run(next);
            }
          } else {
            const gone = idle[step.at];
            if (gone !== undefined) {
              expect(scheduler.withdraw(gone)).toBe(true);
              remove(idle, gone);
            }
          }
          expect(running.toSorted()).toEqual(busy.map(({ name }) => name).toSorted());
        }
      }),
    );
  });
});
