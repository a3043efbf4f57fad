import { AgentCardSchema } from "@a2a-connect/proto";
import { createFakeClock } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import type { OpenSigning } from "./open-signing.ts";
import { SigningAttempts } from "./signing-attempts.ts";

const card = create(AgentCardSchema);

describe("signing", () => {
  it("keeps 1,000 waiting at most, and all of them wait in vain when those before them fail", async () => {
    const clock = createFakeClock();
    let calls = 0;
    const signing: Pick<OpenSigning, "sign"> = {
      sign: () => {
        calls += 1;
        return new Promise(() => {});
      },
    };
    const attempts = new SigningAttempts({ clock, log: () => {} });
    const sign = () => attempts.sign(signing as OpenSigning, card, "http://localhost", "failed"); // signs only
    const all = Promise.allSettled(Array.from({ length: 1_004 }, sign));
    await expect(sign()).rejects.toMatchObject({ code: Code.Unavailable });
    expect(calls).toBe(4);
    await clock.advance(10_000);
    expect(new Set((await all).map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(calls).toBe(4);
  });
});
