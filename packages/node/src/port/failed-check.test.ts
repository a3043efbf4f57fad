import { EventEmitter } from "node:events";
import type { TLSSocket } from "node:tls";
import { expect, it, vi } from "vitest";
import { forgetFailedCheck } from "./failed-check.ts";

class FakeSocket extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
  }
}

it.each([
  ["is destroyed when what it has sent is no TLS", "SSL routines", true],
  ["goes on after a check of its certificate has failed", "rsa routines", false],
])("a connection %s", async (_, library, isEnd) => {
  const socket = new FakeSocket();
  const goOn = vi.fn();
  forgetFailedCheck(socket as unknown as TLSSocket, goOn);
  socket.emit("error", Object.assign(new Error("it failed"), { library }));
  await new Promise(setImmediate);
  expect([socket.destroyed, goOn.mock.calls.length]).toEqual([isEnd, isEnd ? 0 : 1]);
  expect(socket.listenerCount("error")).toBe(0);
});
