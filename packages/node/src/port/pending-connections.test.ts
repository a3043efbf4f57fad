import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { openSilentHttp2, requestFrame } from "../../test-support/http2-frames.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { listen } from "./listen.ts";

/** What the system allows at most; where it does not say, what all of them do. */
const somaxconn = "/proc/sys/net/core/somaxconn";
const allowed = existsSync(somaxconn) ? Number(readFileSync(somaxconn, "utf8")) : 100;

it("a thousand connections that come at once are kept while the process is busy, and answered then", async () => {
  const count = Math.min(1_000, allowed);
  const go = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL("../../test-support/busy-listener.ts", import.meta.url), {
    workerData: go,
  });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = await once(worker, "message");
  const sockets = Array.from({ length: count }, () => connect({ port, host: "127.0.0.1" }));
  // The system connects those that it keeps; all others would not be connected before the process accepts some.
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  Atomics.store(go, 0, 1);
  Atomics.notify(go, 0);
  const answers = sockets.map(async (socket) => {
    socket.end("GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let text = "";
    for await (const chunk of socket.setEncoding("latin1")) text += chunk;
    return text.startsWith("HTTP/1.1 200 ");
  });
  expect((await Promise.all(answers)).filter((answered) => answered)).toHaveLength(count);
});

it.each([
  ["kept", 1_000],
  ["refused", 16],
])(
  "two hundred new connections of a caller whose requests take long do not keep a new one of another waiting when they are %s",
  async (_, maxConnections) => {
    let handled = 0;
    const begun = Promise.withResolvers<void>();
    await using listener = await listen(
      async ({ callerNetwork }) => {
        if (callerNetwork === "127.0.0.1") {
          handled += 1;
          begun.resolve();
          const end = performance.now() + 6;
          while (performance.now() < end);
        }
        return { status: 200 };
      },
      { maxConnections },
    );
    const address = { host: "127.0.0.1", port: listener.port };
    const open = (count: number) =>
      Array.from({ length: count }, () => connect(address).on("error", () => undefined));
    const first = open(13);
    await Promise.all(first.map((socket) => once(socket, "connect")));
    using busy = await openRawConnection(listener.port); // has the last place of 7/8 of 16
    await openSilentHttp2(busy);
    void busy.write(Buffer.concat(Array.from({ length: 1_000 }, (_, at) => requestFrame(2 * at + 1))));
    await begun.promise;
    const before = handled;
    const others = open(200);
    const [response] = (await once(
      request({ ...address, localAddress: "127.0.0.2", agent: false }).end(),
      "response",
    )) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    expect(handled - before).toBeLessThan(150); // it would be one or two for each connection
    for (const socket of [busy.socket, ...first, ...others, response.socket]) socket.destroy();
  },
);
