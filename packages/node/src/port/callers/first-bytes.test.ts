import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { BodyBudget } from "./body-budget.ts";
import { FirstBytes } from "./first-bytes.ts";

describe("what connections have brought before their parser has them", () => {
  const budget = new BodyBudget({ maxBodyBytesPerConnection: 100, maxTotalBodyBytes: 100 });
  const [greedy, other] = [budget.openCaller(), budget.openCaller()];

  function wait(caller: typeof greedy, readableLength: number) {
    const socket = {
      readableLength,
      destroyed: false,
      destroy() {
        socket.destroyed = true;
        return undefined as never; // a socket returns itself, which nothing reads
      },
    };
    return { socket, first: new FirstBytes(socket, budget.open(caller)) };
  }

  it("counts as bodies: beyond the limit, the largest of the caller that has most is closed", async () => {
    const small = wait(other, 30);
    const [one, two, three] = [wait(greedy, 20), wait(greedy, 40), wait(greedy, 30)];
    expect(budget.held).toBe(80);
    expect([small, one, two, three].map(({ socket }) => socket.destroyed)).toEqual([
      false,
      false,
      true,
      false,
    ]);
    one.socket.readableLength = 35; // the rest of a packet of TLS
    await nextTurn();
    expect(budget.held).toBe(95);
    for (const { first } of [small, one, two, three]) first.end();
    one.socket.readableLength = 99;
    await nextTurn();
    expect([budget.held, greedy.refusable.size]).toEqual([0, 0]);
  });
});
