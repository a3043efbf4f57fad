import { AsyncLocalStorage } from "node:async_hooks";
import { None } from "oauth4webapi";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { deviceLogin } from "./grants.ts";

const issuer = "https://id.example";
const server = {
  issuer,
  token_endpoint: `${issuer}/token`,
  device_authorization_endpoint: `${issuer}/device`,
};

/** The timers that a login waits for. Code of other tests in this process has timers, too. */
const ownTimers = new AsyncLocalStorage<Set<unknown>>();

/** A login that a server begins with this answer. `answer` is what it says each time that it is asked for the token. */
function begin(
  begun: { readonly expires_in: number; readonly interval?: number },
  answer: () => Promise<Response>,
  show: () => void | Promise<void> = () => {},
) {
  let polls = 0;
  const fetch: typeof globalThis.fetch = async (input) => {
    if (String(input) === server.device_authorization_endpoint) {
      const codes = { device_code: "d", user_code: "U", verification_uri: issuer };
      return Response.json({ ...codes, ...begun });
    }
    polls += 1;
    return await answer();
  };
  const abort = new AbortController();
  let ended: string | undefined;
  let cause: unknown;
  const timers = new Set<unknown>();
  const request = {
    server,
    client: { client_id: "program" },
    authentication: None(),
    parameters: {},
    issuer: undefined,
    audience: undefined,
    scopes: [],
    fetch,
    signal: abort.signal,
  };
  void ownTimers
    .run(timers, () => deviceLogin(show).obtain(request))
    .then(
      ({ access_token }) => {
        ended = access_token;
      },
      (error: Error) => {
        ended = error.message;
        cause = error.cause;
      },
    );
  return { abort, ended: () => ended, cause: () => cause, polls: () => polls, timers: () => timers.size };
}

const refusal = (error: string) => async () => Response.json({ error }, { status: 400 });
const pending = refusal("authorization_pending");
const token = async () => Response.json({ access_token: "token", token_type: "bearer" });
/** Nothing for 30 seconds. */
const silence = () => new Promise<Response>((resolve) => setTimeout(() => resolve(pending()), 30_000));
const never = () => new Promise<never>(() => {});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const noted = new Map<unknown, Set<unknown>>();
  const forget = (timer: unknown) => void noted.get(timer)?.delete(timer);
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((fire: () => void, ms?: number) => {
    const timer = set(() => {
      forget(timer);
      fire();
    }, ms);
    const own = ownTimers.getStore();
    if (own !== undefined) noted.set(timer, own.add(timer));
    return timer;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    forget(timer);
    clear(timer);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("a login with a code on another device", () => {
  for (const [what, answer, polls] of [
    ["that the user has not confirmed it", pending, 3],
    ["that it is asked too often", refusal("slow_down"), 2],
    ["nothing in that time", silence, 1],
  ] as const) {
    it(`ends with the code, when the server answers ${what}`, async () => {
      const login = begin({ expires_in: 20, interval: 5 }, answer);
      await vi.advanceTimersByTimeAsync(19_999);
      expect([login.ended(), login.polls()]).toEqual([undefined, polls]);
      await vi.advanceTimersByTimeAsync(1);
      expect(login.ended()).toBe("the code has expired: it was not confirmed within 20 seconds");
      await vi.advanceTimersByTimeAsync(16_000);
      expect([login.polls(), login.timers()]).toEqual([polls, 0]);
    });
  }

  describe.each([
    ["the connection is lost", () => Promise.reject(new TypeError("fetch failed"))],
    ["the server does not answer", () => Promise.reject(new DOMException("5 seconds", "TimeoutError"))],
    ["the server is out of order", async () => new Response("<h1>Bad gateway</h1>", { status: 502 })],
    [
      "the server says that it is busy",
      async () => Response.json({ error: "temporarily_unavailable" }, { status: 503 }),
    ],
  ] as const)("when %s", (_, fail) => {
    it("asks again, half as often after each", async () => {
      const answers = [fail, pending, fail, token];
      const login = begin({ expires_in: 100, interval: 5 }, () => (answers.shift() ?? never)());
      const polls: number[] = [];
      for (const ms of [5_000, 10_000, 9_999, 1, 20_000]) {
        await vi.advanceTimersByTimeAsync(ms);
        polls.push(login.polls());
      }
      expect([polls, login.ended()]).toEqual([[1, 2, 2, 3, 4], "token"]);
    });

    it("ends with the code, and names the last failure as the cause", async () => {
      const login = begin({ expires_in: 20 }, fail);
      await vi.advanceTimersByTimeAsync(20_000);
      expect(login.ended()).toBe("the code has expired: it was not confirmed within 20 seconds");
      expect(login.cause()).toBeInstanceOf(Error);
    });
  });

  it("does not name a failure after which the server has answered", async () => {
    const answers = [() => Promise.reject(new TypeError("fetch failed")), pending];
    const login = begin({ expires_in: 20 }, () => (answers.shift() ?? never)());
    await vi.advanceTimersByTimeAsync(20_000);
    expect([login.polls(), login.cause()]).toEqual([2, undefined]);
  });

  it("ends at once when the server refuses", async () => {
    const login = begin({ expires_in: 20 }, refusal("access_denied"));
    await vi.advanceTimersByTimeAsync(5_000);
    expect([login.ended(), login.polls(), login.timers()]).toEqual([expect.any(String), 1, 0]);
  });

  it("ends with the code while the user is still being told of it", async () => {
    const login = begin({ expires_in: 20 }, pending, never);
    await vi.advanceTimersByTimeAsync(20_000);
    expect([login.ended(), login.polls(), login.timers()]).toEqual([
      "the code has expired: it was not confirmed within 20 seconds",
      0,
      0,
    ]);
  });

  it("takes a longer interval or life of the code than timers have for the longest one", async () => {
    const login = begin({ expires_in: 1e300, interval: 3_000_000 }, pending);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([login.ended(), login.polls()]).toEqual([undefined, 0]);
    login.abort.abort(new Error("stopped"));
    await vi.advanceTimersByTimeAsync(0);
    expect([login.ended(), login.polls(), login.timers()]).toEqual(["stopped", 0, 0]);
  });
});
