import { None } from "oauth4webapi";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { deviceLogin } from "./grants.ts";

const issuer = "https://id.example";
const server = {
  issuer,
  token_endpoint: `${issuer}/token`,
  device_authorization_endpoint: `${issuer}/device`,
};

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
  void deviceLogin(show)
    .obtain({
      server,
      client: { client_id: "program" },
      authentication: None(),
      parameters: {},
      issuer: undefined,
      audience: undefined,
      scopes: [],
      fetch,
      signal: abort.signal,
    })
    .then(
      ({ access_token }) => {
        ended = access_token;
      },
      (error: Error) => {
        ended = error.message;
      },
    );
  return { abort, ended: () => ended, polls: () => polls };
}

const refusal = (error: string) => async () => Response.json({ error }, { status: 400 });
const pending = refusal("authorization_pending");
/** Nothing for 30 seconds. */
const silence = () => new Promise<Response>((resolve) => setTimeout(() => resolve(pending()), 30_000));
const never = () => new Promise<never>(() => {});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(() => {
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
      expect([login.polls(), vi.getTimerCount()]).toEqual([polls, 0]);
    });
  }

  it("ends with the code while the user is still being told of it", async () => {
    const login = begin({ expires_in: 20 }, pending, never);
    await vi.advanceTimersByTimeAsync(20_000);
    expect([login.ended(), login.polls(), vi.getTimerCount()]).toEqual([
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
    expect([login.ended(), login.polls(), vi.getTimerCount()]).toEqual(["stopped", 0, 0]);
  });
});
