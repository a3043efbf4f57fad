import { AgentCardSchema } from "@a2a-connect/proto";
import { createFakeClock } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import type { SigningKeys } from "./signing-keys.ts";
import { SigningQueue } from "./signing-queue.ts";

const card = create(AgentCardSchema);

describe("signing", () => {
  it("keeps 1,000 waiting at most, and all of them wait in vain when those before them fail", async () => {
    const clock = createFakeClock();
    let calls = 0;
    const signing: SigningKeys = {
      sign: () => {
        calls += 1;
        return new Promise(() => {});
      },
      signOlder: async (older) => older,
      keySetAt: () => ({ keys: [] }),
    };
    const queue = new SigningQueue(signing, { clock, log: () => {} });
    const sign = () => queue.sign((keys) => keys.sign(card, "http://localhost"));
    const all = Promise.allSettled(Array.from({ length: 1_004 }, sign));
    await expect(sign()).rejects.toMatchObject({ code: Code.Unavailable });
    expect(calls).toBe(4);
    await clock.advance(10_000);
    expect(new Set((await all).map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(calls).toBe(4);
  });

  it("begins four at once and the others in their order, and has all places free again after a failure", async () => {
    const begun: ReturnType<typeof Promise.withResolvers<typeof card>>[] = [];
    const names: string[] = [];
    const signing: SigningKeys = {
      sign: (_card, baseUrl) => {
        const end = Promise.withResolvers<typeof card>();
        begun.push(end);
        names.push(baseUrl);
        return end.promise;
      },
      signOlder: async (older) => older,
      keySetAt: () => ({ keys: [] }),
    };
    const clock = createFakeClock();
    const queue = new SigningQueue(signing, { clock, log: () => {} });
    const sign = (name: string) => queue.sign((keys) => keys.sign(card, name));
    const all = ["1", "2", "3", "4", "5", "6", "7"].map(sign);
    const outcomes = Promise.allSettled(all);
    await clock.settle();
    expect(names).toEqual(["1", "2", "3", "4"]);
    begun[1]?.resolve(card);
    await clock.settle();
    expect(names).toEqual(["1", "2", "3", "4", "5"]);
    for (let index = 0; index < 6; index += 1) {
      begun[index]?.resolve(card);
      await clock.settle();
    }
    expect(names).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
    begun[6]?.reject(new Error("failed"));
    expect((await outcomes).filter(({ status }) => status === "rejected")).toHaveLength(1);
    await clock.advance(5_000);
    for (const name of ["8", "9", "10", "11"]) void sign(name);
    await clock.settle();
    expect(names.slice(7)).toEqual(["8", "9", "10", "11"]);
  });
});
