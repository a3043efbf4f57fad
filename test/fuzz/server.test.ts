// A running server, called with requests that were good once.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wires } from "../bad-input/wires.ts";
import { watchRejections } from "../client/watch-rejections.ts";
import { type Entry, formatEntry, readCorpus } from "./entry.ts";
import { type FuzzedServer, startFuzzedServer } from "./fuzzed-server.ts";
import { mutatedRequests } from "./mutated.ts";
import { recorded } from "./recorded.ts";
import { fuzz } from "./runs.ts";

watchRejections();

let server: FuzzedServer;
beforeAll(async () => {
  server = await startFuzzedServer();
  expect(await server.echo()).toBeUndefined(); // its task is the one that other requests are about
});
afterAll(() => server[Symbol.asyncDispose]());

/** How many requests come between two good ones. */
const between = 20;

describe("the corpus", () => {
  const corpus = readCorpus();

  it("has requests of every wire", () => {
    const types = new Set(corpus.map(({ fields }) => fields["content-type"]));
    expect(types.size).toBeGreaterThanOrEqual(wires.length);
    expect(corpus.map(formatEntry).join("\n")).not.toBe("");
  });

  it.each(corpus.map((entry) => [formatEntry(entry).slice(0, 150), entry] as const))(
    "is answered: %s",
    async (_, entry) => {
      expect(await server.call(entry)).toBeUndefined();
      expect(await server.echo()).toBeUndefined();
    },
  );
});

describe.each(wires)("requests over $name", (wire) => {
  it("are answered as its rules have it, whatever has changed in them", { timeout: 3_600_000 }, async () => {
    let calls = 0;
    const check = async (entry: Entry) => {
      const fault = await server.call(entry);
      if (fault !== undefined) throw new Error(fault);
      calls += 1;
      if (calls % between === 0) expect(await server.echo()).toBeUndefined();
    };
    const requests = mutatedRequests(recorded.filter((each) => each.wire === wire));
    await fuzz(wire.name, 150, requests, formatEntry, check);
    expect(await server.findLeft()).toEqual([]);
  });
});
