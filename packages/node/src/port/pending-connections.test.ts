import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";

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
