import { setImmediate } from "node:timers";
import { expect, it, vi } from "vitest";
import { RemoteKeySet } from "./key-set.ts";

it("lets few calls in a turn of the event loop go on that have waited for the keys, and callers take turns", async () => {
  const { promise: answer, resolve } = Promise.withResolvers<Response>();
  const fetch = vi.fn(() => answer);
  const url = () => "https://id.example/keys";
  const keys = new RemoteKeySet({ url, fetch, now: Date.now, maxAgeMs: 1_000, cooldownMs: 1_000 });
  let inTurn = 0;
  let mostInATurn = 0;
  const order: string[] = [];
  const find = async (caller: string): Promise<void> => {
    const token = { payload: "", signature: "" };
    await expect(keys.findFor(caller)({ kid: "unknown", alg: "ES256" }, token)).rejects.toThrow(
      "no applicable key",
    );
    order.push(caller);
    if (inTurn === 0) setImmediate(() => (inTurn = 0));
    inTurn += 1;
    mostInATurn = Math.max(mostInATurn, inTurn);
  };
  const calls = [...Array.from({ length: 300 }, () => find("alice")), find("bob")];
  await vi.waitFor(() => expect(fetch).toHaveBeenCalled());
  resolve(Response.json({ keys: [] }));
  await Promise.all(calls);
  expect(mostInATurn).toBeLessThanOrEqual(128); // of two turns, because it may count from the middle of one
  expect(order.indexOf("bob")).toBeLessThan(150);
});
