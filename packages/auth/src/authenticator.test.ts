import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { Authenticator } from "./authenticator.ts";
import type { AuthGate, Caller, Credentials, Verdict } from "./gate.ts";
import { createScope, defaultScopes, readScope } from "./policy.ts";

const credentials: Credentials = {
  header: new Headers(),
  url: "http://localhost/",
  countFields: () => 0,
  certificate: undefined,
};

/** A gate that every call passes as one caller. */
const passing = (caller: Partial<Caller>): AuthGate => ({
  scheme: { scheme: { case: "mtlsSecurityScheme", value: {} } },
  challenge: { scheme: "Test" },
  hasScopes: true,
  verify: () => ({ principal: "alice", scopes: defaultScopes, claims: {}, ...caller }),
});

const both = (token: Partial<Caller>, key: Partial<Caller>) => () =>
  new Authenticator({
    gates: { token: passing(token), key: passing(key) },
    requirements: [["token", "key"]],
  }).authenticate(credentials);

it("limits a caller with two credentials to what both allow, and those without scopes limit nothing", () => {
  const scopesOf = (...scopes: [readonly string[], readonly string[]]) =>
    both({ scopes: scopes[0] }, { scopes: scopes[1] })();
  expect(scopesOf([readScope], defaultScopes)).toMatchObject({ scopes: [readScope] });
  expect(scopesOf(defaultScopes, [readScope])).toMatchObject({ scopes: [readScope] });
  expect(scopesOf([readScope, "booking:write"], defaultScopes)).toMatchObject({
    scopes: [readScope, "booking:write"],
  });
  expect(scopesOf([readScope, createScope], [createScope, "x"])).toMatchObject({ scopes: [createScope] });
  expect(scopesOf(defaultScopes, defaultScopes)).toMatchObject({
    scopes: defaultScopes,
    expiresAt: undefined,
  });
});

it("refuses two credentials for different tenants or tasks, and ends with the one that expires first", () => {
  expect(both({ tenant: "acme" }, { tenant: "other" })).toThrow("needs credentials");
  expect(both({ taskId: "1" }, { taskId: "2" })).toThrow("needs credentials");
  expect(both({ tenant: "acme", expiresAt: 9 }, { expiresAt: 7, principal: "key:a" })()).toMatchObject({
    principal: "alice",
    tenant: "acme",
    expiresAt: 7,
  });
});

it.each([
  ["principal", { principal: "m\ud800" }],
  ["tenant", { tenant: "\udc00" }],
])("refuses a %s that stores could not tell from others", (_, caller) => {
  const name = () => new Authenticator({ gates: { key: passing(caller) }, requirements: [["key"]] });
  expect(() => name().authenticate(credentials)).toThrow("the name that they have is no valid Unicode");
});

it("tells the error of a gate that throws at once, also when another one fails later", async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on("unhandledRejection", note);
  try {
    const failing = (verify: AuthGate["verify"]): AuthGate => ({ ...passing({}), verify });
    const later = failing(async () => Promise.reject(new Error("too many passwords are being checked")));
    const atOnce = failing(() => {
      throw new Error("the file of keys is malformed");
    });
    const authenticator = new Authenticator({ gates: { atOnce, later } });
    await expect(async () => authenticator.authenticate(credentials)).rejects.toThrow("the file of keys");
    await new Promise((resolve) => setImmediate(resolve));
    expect(rejections).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});

const answering = (verify: AuthGate["verify"]): AuthGate => ({ ...passing({}), verify });
const away = answering(async () => Promise.reject(new Error("the server of the tokens is away")));
const silent = answering(() => new Promise(() => {}));
const missing = answering(() => undefined);
const key = passing({ principal: "key:alice" });

it.each<[string, AuthGate]>([
  ["fails", away],
  ["gives no answer", silent],
])("does not wait for a gate behind the entry that is met: it %s", async (_, token) => {
  const alice = { principal: "key:alice" };
  expect(await new Authenticator({ gates: { key, token } }).authenticate(credentials)).toMatchObject(alice);
  const later = answering(async () => key.verify(credentials));
  const authenticator = new Authenticator({
    gates: { token, missing, key, later },
    requirements: [["token", "missing"], ["later", "key"], ["token"]],
  });
  expect(await authenticator.authenticate(credentials)).toMatchObject(alice);
});

it("names the caller by the first entry that is met: another one does not count while that one cannot be checked", async () => {
  const failing = new Authenticator({ gates: { away, key } });
  await expect(async () => failing.authenticate(credentials)).rejects.toThrow(
    "the server of the tokens is away",
  );
  const { promise, resolve } = Promise.withResolvers<Verdict>();
  const slow = new Authenticator({ gates: { token: answering(() => promise), key } });
  const caller = slow.authenticate(credentials);
  resolve({ principal: "bob", scopes: defaultScopes, claims: {} });
  expect(await caller).toMatchObject({ principal: "bob" });
});

it("refuses credentials that meet no entry, also when a gate that is away could say more", async () => {
  const authenticator = new Authenticator({
    gates: { away, missing, key: answering(async () => ({ refused: "the key is unknown" })) },
    requirements: [["away", "missing"], ["key"]],
  });
  await expect(async () => authenticator.authenticate(credentials)).rejects.toThrow("the key is unknown");
});

it("waits for no gate when the call has gone, and keeps nothing of it", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void; // what the flag brings
  const answer = Promise.withResolvers<Verdict>(); // one for all calls, as of an authorization server that is slow
  const slow: AuthGate = { ...passing({}), verify: () => answer.promise };
  const authenticator = new Authenticator({ gates: { slow, key: passing({}) } });
  const gone = new Error("the caller went away");
  const kept: WeakRef<object>[] = [];
  const callAndLeave = async () => {
    const hangUp = new AbortController();
    const call = { ...credentials, signal: hangUp.signal };
    kept.push(new WeakRef(call));
    const caller = authenticator.authenticate(call);
    hangUp.abort(gone);
    await expect(caller).rejects.toBe(gone);
  };
  for (let calls = 0; calls < 20; calls += 1) await callAndLeave();
  await expect
    .poll(() => {
      collectGarbage();
      return kept.filter((each) => each.deref() !== undefined).length;
    })
    .toBe(0);
  answer.resolve(undefined);
});
