import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CheckTurns } from "./check-turns.ts";

const refused = { refused: "the user or the password is wrong" };
const caller = { principal: "user:alice", scopes: [], claims: {} };

/** Checks that end when a test says so. `begun` has their names in the order of their begin. */
function setUp(limits = { max: 2, maxOfOne: 1, wrongComeLast: true }) {
  const turns = new CheckTurns({ ...limits, what: "passwords" });
  const begun: string[] = [];
  const ends = new Map<string, (verdict: typeof refused | typeof caller) => void>();
  const check = (name: string, share: string, signal?: AbortSignal) => {
    const checked = turns.check({ share, signal }, () => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    });
    checked.catch(() => {}); // those that no test ends are refused 30 seconds later; a test that awaits one gets the error
    return checked;
  };
  const end = async (name: string, verdict: typeof refused | typeof caller) => {
    ends.get(name)?.(verdict);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { check, begun, end };
}

afterEach(() => vi.useRealTimers());

describe("checks of credentials", () => {
  it("wait, one at a time runs for each sender, and senders take turns", async () => {
    const { check, begun, end } = setUp();
    for (const name of ["a1", "b1", "a2", "c1", "b2", "a3"]) void check(name, name.slice(0, 1));
    expect(begun).toEqual(["a1", "b1"]);
    for (const name of ["b1", "c1", "a1", "b2", "a2"]) await end(name, caller);
    expect(begun).toEqual(["a1", "b1", "c1", "b2", "a2", "a3"]);
  });

  it("come after those of others for a sender whose last credentials were wrong, until it has right ones", async () => {
    const { check, begun, end } = setUp({ max: 1, maxOfOne: 1, wrongComeLast: true });
    for (const name of ["a1", "a2", "a3", "a4", "b1", "c1"]) void check(name, name.slice(0, 1));
    for (const name of ["a1", "b1", "c1"]) await end(name, refused);
    expect(begun).toEqual(["a1", "b1", "c1", "a2"]);
    void check("b2", "b");
    await end("a2", caller);
    expect(begun.at(-1)).toBe("a3");
  });

  it("come in turn for every sender where that is told", async () => {
    const { check, begun, end } = setUp({ max: 1, maxOfOne: 1, wrongComeLast: false });
    for (const name of ["a1", "a2", "b1", "b2"]) void check(name, name.slice(0, 1));
    for (const name of ["a1", "a2", "b1"]) await end(name, refused);
    expect(begun).toEqual(["a1", "a2", "b1", "b2"]);
  });

  it("come after those of others, and one at a time, for all networks of a site that has guessed wrongly", async () => {
    const { check, begun, end } = setUp({ max: 1, maxOfOne: 1, wrongComeLast: true });
    const sites = { a1: "2001:db8:1:1::/64", a2: "2001:db8:1:2::/64", a3: "2001:db8:1::/64" };
    for (const [name, share] of Object.entries(sites)) void check(name, share);
    void check("b1", "2001:db8:2:1::/64");
    await end("a1", refused);
    await end("b1", refused);
    expect(begun).toEqual(["a1", "b1", "a2"]);
    await end("a2", refused);
    await end("a3", refused);
    for (const at of [4, 5, 6]) void check(`a${at}`, `2001:db8:1:${at}::/64`);
    void check("b2", "2001:db8:2:2::/64");
    for (const name of ["a4", "a5"]) await end(name, refused);
    expect(begun.slice(4)).toEqual(["a4", "a5", "b2"]);
  });

  it("are refused when an eighth of those that may wait are of the same sender", async () => {
    const { check } = setUp();
    const all = Array.from({ length: 34 }, (_, at) => check(`${at}`, "a"));
    await expect(all[33]).rejects.toMatchObject({
      code: Code.Unavailable,
      rawMessage: "too many passwords are being checked; try again in a second",
    });
  });

  it("end with their call", async () => {
    const { check, begun, end } = setUp({ max: 1, maxOfOne: 1, wrongComeLast: true });
    void check("a1", "a");
    const controller = new AbortController();
    const gone = check("a2", "a", controller.signal);
    void check("a3", "a");
    controller.abort(new Error("the caller went away"));
    await expect(gone).rejects.toThrow("the caller went away");
    await end("a1", caller);
    expect(begun).toEqual(["a1", "a3"]);
  });

  it("wait no longer than 30 seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { check, begun, end } = setUp({ max: 1, maxOfOne: 1, wrongComeLast: true });
    void check("a1", "a");
    const late = check("a2", "a");
    vi.advanceTimersByTime(30_000);
    await expect(late).rejects.toThrow("too many passwords are being checked");
    await end("a1", caller);
    expect(begun).toEqual(["a1"]);
  });
});
