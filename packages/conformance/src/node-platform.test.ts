import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { nodePlatform } from "./node-platform.ts";
import { postGrpc } from "./raw-grpc.ts";
import { findServer } from "./target.ts";

describe("a raw call of gRPC", () => {
  it("fails when it is given up before it is connected, and ends nothing else", async () => {
    await using server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
    const card = { supportedInterfaces: [{ url, protocolBinding: "GRPC", protocolVersion: "1.0" }] };
    using found = await findServer(nodePlatform, url, { card });
    const controller = new AbortController();
    const call = postGrpc(found.target({ signal: controller.signal }), "/a/B", new Uint8Array());
    controller.abort(new Error("given up"));
    await expect(call).rejects.toThrow();
    await setImmediate(); // an error that nothing handles is told by now, and fails the run of the tests
  });
});
