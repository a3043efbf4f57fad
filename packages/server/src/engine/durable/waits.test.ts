import fc from "fast-check";
import { expect, it } from "vitest";
import { type Wait, Waits } from "./waits.ts";

it("the next time is that of the earliest wait that is open", () => {
  const clock = { nextTurn: async () => {} };
  const step = fc.oneof(
    fc.record({ begins: fc.option(fc.nat(9), { nil: undefined }) }),
    fc.record({ ends: fc.nat(20) }),
    fc.record({ wakes: fc.nat(9) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const waits = new Waits({ clock, onIdle: () => {}, onReady: () => {} });
      let open: Wait[] = [];
      for (const each of steps) {
        if ("begins" in each) {
          open.push(waits.begin(each.begins));
        } else if ("ends" in each) {
          const [ended] = open.splice(each.ends, 1);
          ended?.end();
          ended?.end(); // it is over
        } else {
          waits.wake(each.wakes);
          open = open.filter(({ until }) => until === undefined || until > each.wakes);
        }
        const times = open.flatMap(({ until }) => until ?? []);
        expect(waits.nextAt).toBe(times.length === 0 ? undefined : Math.min(...times));
      }
    }),
  );
});
