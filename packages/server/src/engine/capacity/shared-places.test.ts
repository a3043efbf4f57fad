import { A2AService } from "@a2a-connect/proto";
import { defineAgent } from "@a2a-connect/server";
import { createMemoryTransport, say } from "@a2a-connect/testing";
import { createClient } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAgentHost } from "../../host/agent-host.ts";
import { systemClock } from "../clock.ts";
import { defaultEngineLimits } from "../engine-context.ts";
import { CallerBudgets } from "./caller-budgets.ts";
import { type Runnable, Scheduler } from "./scheduler.ts";
import { SharedPlaces } from "./shared-places.ts";

interface Work extends Runnable {
  hasBegun: boolean;
  finish(): Promise<void>;
}

/** Schedulers of agents that have `max` places together. */
function createAgents<Name extends string>(max: number, names: readonly Name[], maxShare = 7 / 8) {
  const places = new SharedPlaces(max, maxShare);
  const running: Record<string, Work[]> = {};
  const all: Record<string, Work[]> = {};
  const schedulers: Record<string, Scheduler> = {};
  const limits = { ...defaultEngineLimits, maxRunning: max, maxShare };
  for (const name of names) {
    running[name] = [];
    all[name] = [];
    schedulers[name] = new Scheduler(
      {
        agent: { card: { name }, execute: () => [] },
        limits,
        clock: systemClock,
        log: () => {},
        beginTurns: new CallerBudgets(limits, { clock: systemClock, log: () => {} }).beginTurns,
        places: places.join(),
      },
      { turn: () => undefined },
    );
  }
  const start = (name: Name, share: string) => {
    const end = Promise.withResolvers<void>();
    const atWork = running[name] ?? [];
    const work: Work = {
      skill: undefined,
      priority: "normal",
      share,
      hasBegun: false,
      async run() {
        work.hasBegun = true;
        atWork.push(work);
        await end.promise;
        atWork.splice(atWork.indexOf(work), 1);
      },
      async finish() {
        end.resolve();
        for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      },
    };
    schedulers[name]?.start(work, "always");
    return work;
  };
  const startMany = (name: Name, share: string, count: number) =>
    Array.from({ length: count }, () => {
      const work = start(name, share);
      all[name]?.push(work);
      return work;
    });
  /** The first of each caller's work that waits. */
  const waiting = (name: Name) => {
    const isWaiting = all[name]?.filter((work) => !work.hasBegun) ?? [];
    return new Map(isWaiting.map((work) => [work.share, work])).values();
  };
  const sharesAt = (name: Name) => (running[name] ?? []).map(({ share }) => share);
  const count = (name: Name, share?: string) =>
    sharesAt(name).filter((each) => share === undefined || each === share).length;
  return { places, start, startMany, count, running, schedulers, waiting };
}

describe("agents that share their places", () => {
  it("have no more at work together than one agent may have, also with many callers", () => {
    const { startMany, count } = createAgents(80, ["a", "b"]);
    for (const caller of ["one", "two", "three", "four", "five"]) startMany("a", caller, 100);
    for (const caller of ["one", "two", "three", "four", "five"]) startMany("b", caller, 100);
    expect([count("a"), count("b")]).toEqual([70, 10]); // ten are for each alone
  });

  it("give one caller its part over all of them: another one gets places at each", () => {
    const names = ["a", "b", "c", "d"] as const;
    const { start, startMany, count } = createAgents(320, names);
    for (const name of names) startMany(name, "one", 400);
    const ofOne = names.reduce((sum, name) => sum + count(name, "one"), 0);
    expect(ofOne).toBe(210 + 4 * 18); // of the common places, and of each agent's own twenty
    for (const name of names) {
      const before = count(name, "two");
      for (let at = 0; at < 8; at += 1) start(name, "two");
      expect(count(name, "two") - before).toBe(8);
    }
  });

  it("keep some for each: those that wait for another agent hold up none of it", async () => {
    const { start, startMany, count } = createAgents(80, ["outer", "inner"]);
    for (const caller of ["one", "two", "three", "four"]) startMany("outer", caller, 100);
    for (let at = 0; at < 30; at += 1) {
      const inner = start("inner", "outer");
      expect(count("inner")).toBe(1);
      await inner.finish();
    }
    startMany("inner", "outer", 30);
    expect([count("outer"), count("inner")]).toEqual([70, 9]); // seven eighths of its ten
  });

  it("give a place that one of them gives back to those that wait at the others, in turn", async () => {
    const names = ["a", "b", "c"] as const;
    const { startMany, count, running } = createAgents(80, names, 1);
    for (const name of names) startMany(name, "one", 100);
    expect(names.map((name) => count(name))).toEqual([68, 6, 6]);
    for (let ended = 0; ended < 30; ended += 1) await running["a"]?.[0]?.finish();
    expect(names.map((name) => count(name))).toEqual([48, 16, 16]);
  });

  it("give a free place to one that waits, also after another one has all that it waited for", async () => {
    const { startMany, count, running } = createAgents(48, ["a", "b", "c"], 1);
    startMany("a", "one", 40);
    startMany("c", "one", 5); // four of its own, and one waits
    await running["a"]?.[0]?.finish();
    expect(count("c")).toBe(5);
    startMany("b", "one", 5);
    await running["a"]?.[0]?.finish();
    expect(count("b")).toBe(5);
  });

  it("give back a common place before one of the agent's own", async () => {
    const { places, startMany } = createAgents(80, ["a", "b"]);
    const all = startMany("a", "one", 20);
    expect(places.free).toBe(49);
    for (const each of all.slice(0, 11)) await each.finish();
    expect(places.free).toBe(60);
  });

  it("leave no place free to which work that waits has a right, and never have more at work (property)", async () => {
    const names = ["a", "b", "c"] as const;
    const agent = fc.constantFrom(...names);
    const share = fc.constantFrom("one", "two", "three");
    const command = fc.oneof(
      { weight: 3, arbitrary: fc.record({ agent, share, many: fc.nat(12) }) },
      { weight: 4, arbitrary: fc.record({ agent, ends: fc.nat(9) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 20, maxLength: 60 }), async (commands) => {
        const { start, startMany, running, schedulers, waiting } = createAgents(24, names); // so few that all are often taken
        for (const step of commands) {
          if ("many" in step) startMany(step.agent, step.share, step.many);
          else await running[step.agent]?.[step.ends]?.finish();
          const atWork = names.reduce((sum, name) => sum + (running[name]?.length ?? 0), 0);
          expect(atWork).toBeLessThanOrEqual(24);
          for (const name of names) {
            for (const { share: caller } of waiting(name)) {
              const probe = start(name, caller ?? "");
              expect(schedulers[name]?.withdraw(probe)).toBe(true); // it would run, if the other might
            }
          }
        }
      }),
    );
  });

  it("tell when to try again by the places that the others leave them", () => {
    const { startMany, schedulers } = createAgents(80, ["a", "b"], 1);
    startMany("b", "one", 10);
    startMany("a", "one", 70);
    startMany("b", "one", 39);
    expect(schedulers["b"]?.retryAfterSeconds(undefined)).toBe(4); // a second each, ten at a time
  });

  it("leave an agent that is alone all", () => {
    const { startMany, count } = createAgents(80, ["a"]);
    for (const caller of ["one", "two", "three", "four"]) startMany("a", caller, 100);
    expect(count("a")).toBe(80);
  });
});

describe("a host", () => {
  const most = defaultEngineLimits.maxRunning;
  /** The executors of one of two agents wait for the other's. `send` sends so many messages to each. */
  async function startHost(bounded: object = {}, limits: object = {}) {
    const begun = { outer: 0, inner: 0 };
    let ended = 0;
    const end = Promise.withResolvers<void>();
    const agentOf = (name: "outer" | "inner", own: object) =>
      defineAgent({
        ...own,
        card: { name },
        async *execute(turn) {
          begun[name] += 1;
          yield turn.working();
          if (turn.text === "wait") await end.promise;
          if (name === "outer") await clientOf("inner", "outer").sendMessage(say("go"));
          ended += 1;
        },
      });
    const host = createAgentHost({
      agents: {
        outer: { agent: agentOf("outer", {}) },
        inner: { agent: agentOf("inner", bounded), limits },
      },
    });
    const clientOf = (name: "outer" | "inner", principal: string) =>
      createClient(A2AService, createMemoryTransport(host.agents[name].service, principal));
    const send = async (name: "outer" | "inner", caller: string, count: number) => {
      const client = clientOf(name, caller);
      const message = { ...say("wait"), configuration: { returnImmediately: true } };
      await Promise.all(Array.from({ length: count }, () => client.sendMessage(message)));
    };
    await host.start();
    return {
      send,
      atWork: () => begun.outer + begun.inner - ended,
      begun,
      async close(ends: number) {
        end.resolve();
        await expect.poll(() => ended, { timeout: 20_000 }).toBe(ends);
        await host.close();
      },
    };
  }

  it("has as many executors at work as one agent may have, and ends what waits for another of its agents", async () => {
    const { send, atWork, begun, close } = await startHost();
    const many = Math.ceil(most / 2);
    for (const caller of ["one", "two", "three", "four"]) await send("outer", caller, many);
    await send("inner", "one", many);
    await expect.poll(atWork).toBeGreaterThan(most * 0.95);
    expect(atWork()).toBeLessThanOrEqual(most);
    expect(begun.inner).toBeLessThanOrEqual(most / 8);
    await close(many * 9); // those of the outer one have called the inner one
  }, 30_000);

  it.each([
    ["its author", { maxRunning: most }, {}],
    ["its operator", {}, { maxRunning: most }],
  ])(
    "leaves an agent the number that %s has set",
    async (_, bounded, limits) => {
      const { send, begun, close } = await startHost(bounded, limits);
      for (const name of ["outer", "inner"] as const) await send(name, "one", most);
      await expect.poll(() => begun.outer).toBeGreaterThan(most * 0.85);
      expect(begun.inner).toBeGreaterThan(most * 0.85);
      await close(most * 3);
    },
    30_000,
  );
});
