import { once } from "node:events";
import { expect, it, onTestFinished, vi } from "vitest";
import { openHttp2 } from "../../test-support/http2-call.ts";
import { Places } from "./callers/places.ts";
import { listen } from "./listen.ts";

it("a fault before a call of HTTP/2 reaches the handler ends its stream, and is told once in a minute", async () => {
  const fault = vi.spyOn(Places.prototype, "takeRequest").mockImplementation(() => {
    throw new RangeError("xyzzy");
  });
  onTestFinished(() => fault.mockRestore());
  const told: string[] = [];
  const onWarning = (message: string) => void told.push(message);
  await using listener = await listen(async () => ({ status: 200 }), { onWarning });
  using session = openHttp2(listener.url);
  for (let count = 0; count < 3; count += 1) {
    const stream = session.request({ ":path": "/" });
    await expect(once(stream, "close")).rejects.toThrow("INTERNAL_ERROR");
  }
  expect(told).toEqual([expect.stringMatching(/fault of this server.*: RangeError at .*\.ts:\d+/)]);
});
