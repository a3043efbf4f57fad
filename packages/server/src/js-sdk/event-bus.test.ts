import { expect, it } from "vitest";
import { EventBus } from "./event-bus.ts";
import type { SdkEvent } from "./sdk-types.ts";

it("hundreds of thousands of events that wait are read in order, in time that is linear in their number", async () => {
  const bus = new EventBus((event) => event);
  const published = Array.from({ length: 200_000 }, (): SdkEvent => ({ kind: "statusUpdate", data: {} }));
  for (const event of published.slice(0, -1)) bus.publish(event);
  let read = 0;
  const begun = process.cpuUsage();
  for await (const event of bus.events()) {
    if (event !== published[read]) throw new Error(`event ${read} is another one`);
    read += 1;
    if (read !== 1) continue;
    for (const last of published.slice(-1)) bus.publish(last); // while the others wait
    bus.finished();
  }
  expect(read).toBe(published.length);
  expect(process.cpuUsage(begun).user).toBeLessThan(3_000_000); // µs
});
