import { expect, it } from "vitest";
import { createFaultTeller } from "./fault-teller.ts";

it("tells of each kind of fault once in a minute, without its text", () => {
  const told: string[] = [];
  let now = 0;
  const tell = createFaultTeller(
    (message) => told.push(message),
    () => now,
  );
  const fault = () => new TypeError("of a caller\n    at its place");
  for (let count = 0; count < 100; count += 1) tell(fault());
  tell("of a caller");
  expect(told).toEqual([
    expect.stringMatching(/fault of this server.*: TypeError at fault \(.*fault-teller\.test\.ts:\d+:\d+\)$/),
    expect.stringMatching(/: something of the type string$/),
  ]);
  now = 60_000;
  tell(fault());
  expect(told.slice(2)).toEqual([expect.stringMatching(/ at fault \(.*\), and 99 more before$/)]);
  expect(told.join()).not.toContain("caller");
});
