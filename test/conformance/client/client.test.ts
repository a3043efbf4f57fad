// What the protocol demands of clients, shown with ours against agents that are none of ours.

import { describe, it } from "vitest";
import { watchRejections } from "../../client/watch-rejections.ts";
import { allClientScenarios } from "./index.ts";

watchRejections();

/** No scenario waits for anything but its own agent: one that takes this long waits in vain. */
const timeoutMs = 10_000;

for (const { title, scenarios } of Object.values(allClientScenarios)) {
  describe(title, () => {
    for (const { ids, title: name, places, run } of scenarios) {
      for (const place of places) {
        // The card has no wire of its own; what it says is tried over JSON-RPC.
        const wire = place === "card" ? "jsonrpc" : place;
        it(`${ids.join(" ")}: ${name} (${place})`, () => run(wire), timeoutMs);
      }
    }
  });
}
