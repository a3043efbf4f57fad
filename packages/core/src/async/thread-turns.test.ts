import { Code } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { inThreadTurn } from "./thread-turns.ts";

it("lets work whose caller has gone leave the line at once, and begins it never", async () => {
  const end = Promise.withResolvers<void>();
  const running = Array.from({ length: 3 }, () => inThreadTurn("alice", () => end.promise));
  const call = new AbortController();
  let begun = 0;
  const gone = inThreadTurn("alice", async () => (begun += 1), call.signal);
  const refused = expect(gone).rejects.toMatchObject({ code: Code.Canceled });
  const other = inThreadTurn("alice", async () => "done");
  call.abort();
  await refused; // although all places are taken
  end.resolve();
  await Promise.all(running);
  expect(await other).toBe("done");
  expect(begun).toBe(0);
});

it("gives callers that wait their turns, however much one of them has waiting", async () => {
  const end = Promise.withResolvers<void>();
  const running = Array.from({ length: 3 }, () => inThreadTurn("alice", () => end.promise));
  const begun: string[] = [];
  const begin = (caller: string) => inThreadTurn(caller, async () => begun.push(caller));
  const waiting = [...Array.from({ length: 20 }, () => begin("alice")), begin("bob")];
  end.resolve();
  await Promise.all([...running, ...waiting]);
  expect(begun.indexOf("bob")).toBeLessThan(4);
});
