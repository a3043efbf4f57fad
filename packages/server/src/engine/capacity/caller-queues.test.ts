import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArrivalQueue } from "./caller-queues.ts";

describe("a waiting queue", () => {
  it("keeps the order in which work came, whoever is taken out (property)", () => {
    const command = fc.oneof(
      fc.record({ kind: fc.constant("add" as const) }),
      fc.record({ kind: fc.constant("delete" as const), at: fc.nat(20) }),
      fc.record({ kind: fc.constant("shift" as const) }),
    );
    fc.assert(
      fc.property(fc.array(command, { minLength: 20, maxLength: 60 }), (commands) => {
        const queue = new ArrivalQueue<object>();
        const model: { readonly work: object; readonly ticket: number }[] = [];
        let tickets = 0;
        for (const { kind, ...rest } of commands) {
          if (kind === "add") {
            const waiting = { work: {}, ticket: ++tickets };
            queue.add(waiting.work, waiting.ticket);
            model.push(waiting);
          } else {
            const [gone] = model.splice("at" in rest ? rest.at : 0, 1);
            expect(queue.delete(gone?.work ?? {})).toBe(gone !== undefined);
          }
          expect([queue.size, queue.first?.work, queue.first?.ticket]).toEqual([
            model.length,
            model[0]?.work,
            model[0]?.ticket,
          ]);
        }
      }),
    );
  });
});
