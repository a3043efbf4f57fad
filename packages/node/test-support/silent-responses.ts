import { ServerResponse } from "node:http";
import { vi } from "vitest";

/** Until the test ends, responses behave as those of Node 22: without a socket, one that is destroyed emits no `close`. */
export function silenceResponses(): void {
  const { destroy } = ServerResponse.prototype;
  vi.spyOn(ServerResponse.prototype, "destroy").mockImplementation(function (this: ServerResponse, error) {
    if (this.socket !== null) return destroy.call(this, error);
    this.destroyed = true;
    return this;
  });
}
