// A stream across `kill -9`: no caller can tell from what it gets that the server died.

import { describe, expect, it } from "vitest";
import { wires } from "../interop/wires.ts";
import { startMortalAgent } from "./mortal-agent.ts";
import { transcriptOf } from "./transcript.ts";

/** When the server dies: the count of events that the first reader has. */
const kills = [4, 15, 30];

describe("stream 40 10", () => {
  it(`across ${kills.length} kills is the undisturbed run, event for event, over every wire (A-36)`, async () => {
    const agent = await startMortalAgent();
    const disturbed = await agent.begin("stream 40 10");
    const due = [...kills];
    let killing = Promise.resolve();
    const readers = Object.keys(wires).map((wire) =>
      agent.follow(disturbed, wire, (count) => {
        if (count === due[0]) {
          due.shift();
          killing = agent.kill();
        }
      }),
    );
    const streams = await Promise.all(readers);
    await killing;
    expect(due).toEqual([]);
    const undisturbed = await agent.follow(await agent.begin("stream 40 10"));
    expect(undisturbed).toHaveLength(42);
    for (const stream of streams) {
      expect(transcriptOf(stream)).toEqual(transcriptOf(undisturbed));
    }
  }, 60_000);
});
