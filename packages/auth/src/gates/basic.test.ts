import { inThreadTurn } from "@a2a-connect/core/internal";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Credentials } from "../gate.ts";
import { basic } from "./basic.ts";

afterEach(() => vi.restoreAllMocks());

/** Tests of passwords that end when a test says so, all of them wrong. */
function holdTests(): { readonly ends: (() => void)[]; readonly counts: { running: number } } {
  const ends: (() => void)[] = [];
  const counts = { running: 0 };
  vi.spyOn(crypto.subtle, "deriveBits").mockImplementation(async () => {
    counts.running += 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    counts.running -= 1;
    return new ArrayBuffer(32);
  });
  return { ends, counts };
}

function credentialsOf(share: string): Credentials {
  const header = new Headers({ authorization: `Basic ${btoa(`alice:guess of ${share}`)}` });
  return { header, url: "http://localhost/", countFields: () => 1, certificate: undefined, share };
}

const refused = { refused: "the user or the password is wrong" };

describe("the gate of passwords", () => {
  it("tests two at a time, all gates of the process together: libuv has four threads for everything", async () => {
    const { ends, counts } = holdTests();
    const gates = [basic({ users: {} }), basic({ users: {} })];
    const guesses = ["a", "b", "c", "d"].flatMap((share) =>
      gates.map((gate) => gate.verify(credentialsOf(share))),
    );
    let most = 0;
    for (let ended = 0; ended < guesses.length; ended += 1) {
      await vi.waitUntil(() => ends.length > 0);
      await vi.waitUntil(() => counts.running >= 2 || ended === guesses.length - 1);
      most = Math.max(most, counts.running);
      ends.shift()?.();
    }
    expect(await Promise.all(guesses)).toEqual(guesses.map(() => refused));
    expect(most).toBe(2);
  });

  it("leaves a thread free beside bodies that are compressed", async () => {
    const { ends, counts } = holdTests();
    const bodies: (() => void)[] = [];
    const compressing = ["x", "y"].map((share) =>
      inThreadTurn(share, () => new Promise<void>((resolve) => bodies.push(resolve))),
    );
    const gate = basic({ users: {} });
    const guesses = ["a", "b"].map((share) => gate.verify(credentialsOf(share)));
    await vi.waitUntil(() => counts.running === 1);
    const digests = Array.from({ length: 3 }, () => crypto.subtle.digest("SHA-256", new Uint8Array(40)));
    await Promise.all(digests); // both guesses have been hashed by then
    expect(counts.running).toBe(1);
    bodies[0]?.();
    await vi.waitUntil(() => counts.running === 2);
    bodies[1]?.();
    for (const end of ends) end();
    expect(await Promise.all(guesses)).toEqual([refused, refused]);
    await Promise.all(compressing);
  });
});
