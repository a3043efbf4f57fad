import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import { openSilentHttp2, requestFrame } from "../../test-support/http2-frames.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";
import { listen } from "./listen.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void; // what the flag defines

async function heapUsed(): Promise<number> {
  for (let turn = 0; turn < 3; turn += 1) {
    await nextTurn();
    collect();
  }
  return process.memoryUsage().heapUsed;
}

const requests = 400;
/** V8 keeps members of these names in an array with gaps: 31 KB. */
const fields = { "1023": "x", "2573": "x" };
const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);

it.each(["HTTP/2", "HTTP/1.1"] as const)(
  "a request of %s whose fields have array indexes as names takes little memory while it is open",
  async (version) => {
    const gate = createGate();
    const all = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    await using listener = await listen(async ({ header }) => {
      seen.push(header.get("2573"));
      if (seen.length === (version === "HTTP/2" ? requests : 8)) all.resolve();
      await gate.opened;
      return { status: 200, body: "answer" };
    });
    using connection = await openRawConnection(listener.port);
    if (version === "HTTP/2") await openSilentHttp2(connection);
    const before = await heapUsed();
    const ids = Array.from({ length: requests }, (_, at) => 2 * at + 1);
    // Of those of HTTP/1.1 all but eight wait to begin.
    const packet =
      version === "HTTP/2"
        ? Buffer.concat(ids.map((id) => requestFrame(id, fields)))
        : Buffer.from(`GET / HTTP/1.1\r\nhost: a\r\n${lines.join("")}\r\n`.repeat(requests));
    await connection.write(packet);
    await all.promise;
    expect((await heapUsed()) - before).toBeLessThan(requests * 16 * 1024);
    expect(new Set(seen)).toEqual(new Set(["x"]));
    gate.open();
  },
);

it.each([
  ["is whole when it is answered", "x", undefined],
  ["becomes whole after its answer", "", "x"],
])(
  "a connection of HTTP/1.1 without calls keeps nothing of the header of its last request, which %s",
  async (_title, body, late) => {
    await using listener = await listen(async () => ({ status: 200, body: "answer" }));
    const header = Array.from({ length: 800 }, (_, at) => `a${at}: b\r\n`).join("");
    await using connections = new AsyncDisposableStack();
    const before = await heapUsed();
    for (let opened = 0; opened < 100; opened += 1) {
      const connection = connections.use(await openRawConnection(listener.port));
      await connection.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n${header}\r\n${body}`);
      await connection.until("answer");
      if (late !== undefined) await connection.write(late);
    }
    expect((await heapUsed()) - before).toBeLessThan(100 * 40 * 1024);
  },
);
