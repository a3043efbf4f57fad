import { connect } from "node:http2";
import { wires } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { openStage } from "./played-task.ts";
import { openRaw, type RawTarget } from "./raw-stream.ts";

/** As many as one task is to have in the long run (A2A_LONG). */
const readers = process.env["A2A_LONG"] === "1" ? 1_000 : 25;
const chunks = 40;

describe.each(wires)("many subscribers of one task over %s", (wire) => {
  it.each(["1.0", "1.1"])("get the same bytes in the same order, in version %s (A-26)", async (version) => {
    await using stage = await openStage();
    const { harness } = stage;
    const session = connect(harness.url);
    try {
      const { id, play } = await stage.startTask();
      const target: RawTarget = { url: harness.url, session, headers: { "a2a-version": version } };
      const streams = await Promise.all(Array.from({ length: readers }, () => openRaw(wire, target, id)));
      await Promise.all(streams.map(({ opened }) => opened));

      for (let chunk = 1; chunk <= chunks; chunk++) {
        await play.yields(play.turn.append("text", `chunk ${chunk} ${"ü".repeat(chunk * 50)}`));
      }
      play.returns();

      const [first, ...others] = await Promise.all(streams.map(({ body }) => body));
      expect(first?.length).toBeGreaterThan(chunks * 1_000);
      expect(first?.includes(`chunk ${chunks} `)).toBe(true);
      expect(others.filter((body) => first?.equals(body) !== true)).toStrictEqual([]);

      // A subscription began with the task at generation 2; what came after it is what a resumed one gets.
      const resumed = await openRaw(
        wire,
        { ...target, headers: { ...target.headers, "last-event-id": "2" } },
        id,
      );
      const rest = await resumed.body;
      expect(rest.includes("chunk 1 ")).toBe(true);
      expect(first?.subarray(-rest.length).equals(rest)).toBe(true);
    } finally {
      session.close();
    }
  });
});

describe.each(["jsonrpc", "http-json"] as const)("a stream of events over %s", (wire) => {
  it("has the same ids in both versions, and generations in one (R-7)", async () => {
    await using stage = await openStage();
    const { harness } = stage;
    const session = connect(harness.url);
    try {
      const { id, play } = await stage.startTask();
      const open = (version: string) =>
        openRaw(wire, { url: harness.url, session, headers: { "a2a-version": version } }, id);
      const streams = await Promise.all(["1.0", "1.1"].map(open));
      await Promise.all(streams.map(({ opened }) => opened));
      await play.yields(play.turn.append("text", "a"));
      play.returns();
      const [plain = "", numbered = ""] = await Promise.all(
        streams.map(async ({ body }) => (await body).toString()),
      );
      expect(plain.match(/^id: \d+$/gm)).toStrictEqual(["id: 2", "id: 3", "id: 4"]);
      expect(numbered.match(/^id: \d+$/gm)).toStrictEqual(["id: 2", "id: 3", "id: 4"]);
      expect(plain).not.toContain("generation");
      expect(numbered.match(/"generation":"\d+"/g)).toStrictEqual(
        ["2", "3", "4"].map((g) => `"generation":"${g}"`),
      );
    } finally {
      session.close();
    }
  });
});
