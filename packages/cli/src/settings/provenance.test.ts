import { describe, expect, it } from "vitest";
import { mayReceive, type SettingSource } from "./provenance.ts";

const own = ["flag", "environment", "file"] as const;
const all = [...own, "found-file", "found-env"] as const;

/** For each source of an agent, the credentials that may go to it unasked. */
const may: Readonly<Record<(typeof all)[number], readonly SettingSource[]>> = {
  flag: all,
  environment: all,
  file: all,
  "found-file": ["found-file", "found-env"],
  "found-env": ["found-env"],
};

describe("an agent may receive a credential", () => {
  for (const agent of all) {
    for (const credential of all) {
      const isAllowed = may[agent].includes(credential);
      it(`${isAllowed ? "" : "not "}from ${credential}, when ${agent} names it`, () => {
        expect(mayReceive(agent, credential)).toBe(isAllowed);
      });
    }
  }

  it("not when nothing names it", () => {
    expect(own.filter((credential) => mayReceive("built-in", credential))).toEqual([]);
  });
});
