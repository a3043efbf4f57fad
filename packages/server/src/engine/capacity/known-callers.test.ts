import { alice } from "@a2a-connect/testing";
import { describe, expect, it, vi } from "vitest";
import type { Owner } from "../../store/task-store.ts";
import { KnownCallers } from "./known-callers.ts";

const nameOwner = ({ principal }: Owner) => `principal ${principal}`;
const anonymous = { tenant: "", principal: "anonymous" };

function nameOf(id: string, owner = anonymous) {
  return { owner, taskId: "task-1", id };
}

describe("the callers of configs", () => {
  it("are told apart without credentials, until another caller replaces the config or one removes it", () => {
    const callers = new KnownCallers(nameOwner);
    callers.note(nameOf("a"), "network 192.0.2.1");
    callers.note(nameOf("b"), "network 192.0.2.2");
    expect(callers.find(nameOf("a"))).toBe("network 192.0.2.1");
    callers.note(nameOf("a"), "network 192.0.2.3");
    callers.note(nameOf("b"), undefined);
    expect(callers.find(nameOf("a"))).toBe("network 192.0.2.3");
    expect(callers.find(nameOf("b"))).toBe("principal anonymous");
  });

  it("are their owners as far as is not known otherwise", () => {
    const callers = new KnownCallers(nameOwner);
    callers.note(nameOf("b", alice), "principal alice");
    expect(callers.find(nameOf("a"))).toBe("principal anonymous");
    expect(callers.find(nameOf("b", alice))).toBe("principal alice");
  });

  it("are forgotten when newer configs take the room, however often these are replaced", () => {
    const callers = new KnownCallers(nameOwner, 3 * "task-1 a".length);
    for (const id of ["a", "b", "c", "c", "c", "d"]) callers.note(nameOf(id), `network of ${id}`);
    const found = ["a", "b", "c", "d"].map((id) => callers.find(nameOf(id)));
    expect(found).toEqual(["principal anonymous", "network of b", "network of c", "network of d"]);
    callers.note(nameOf("x".repeat(100)), "network of x");
    expect(callers.find(nameOf("d"))).toBe("principal anonymous");
  });

  it("are not forgotten for the configs of one other caller, however many it registers", () => {
    const callers = new KnownCallers(nameOwner, 64 * "task-1 00".length);
    callers.note(nameOf("00"), "network of bob");
    for (let id = 10; id < 90; id += 1) callers.note(nameOf(`${id}`), "network of alice");
    expect(callers.find(nameOf("00"))).toBe("network of bob");
    expect(callers.find(nameOf("89"))).toBe("network of alice");
    expect(callers.find(nameOf("10"))).toBe("principal anonymous");
  });

  for (const [many, callerCount] of [
    ["one caller", 1],
    ["many callers", 20],
  ] as const) {
    it(`of ${many} are looked for once for many that come`, () => {
      const size = "task-1 0000".length;
      const callers = new KnownCallers(nameOwner, 2_560 * size);
      const looks = [vi.spyOn(Map.prototype, "keys"), vi.spyOn(Set.prototype, Symbol.iterator)];
      for (let id = 1_000; id < 7_560; id += 1) {
        callers.note(nameOf(`${id}`), `network ${id % callerCount}`);
      }
      const count = looks.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
      for (const spy of looks) spy.mockRestore();
      expect(count).toBeLessThanOrEqual(4_000 / 10);
      expect(callers.find(nameOf("7559"))).toBe(`network ${7_559 % callerCount}`);
      expect(callers.find(nameOf("5010"))).toBe(`network ${5_010 % callerCount}`);
      expect(callers.find(nameOf("4999"))).toBe("principal anonymous");
    });
  }
});
