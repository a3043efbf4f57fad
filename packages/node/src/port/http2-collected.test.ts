import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { formatFrame, openSilentHttp2, requestFrame } from "../../test-support/http2-frames.ts";
import { openRawConnection } from "../../test-support/raw-connection.ts";

/** Its second port takes commands: to block until its standard input has a line, and to collect garbage at once. */
const program = `
  const { readSync } = await import("node:fs");
  const { createServer } = await import("node:net");
  const { listen } = await import(${JSON.stringify(import.meta.resolve("./listen.ts"))});
  const listener = await listen(async ({ method, body }) => {
    if (method === "POST") await body.bytes(1);
    return { status: 200, body: "served" };
  });
  const commands = createServer((socket) => socket.on("data", (command) => {
    if (String(command) === "collect") return gc();
    console.log("blocked");
    readSync(0, Buffer.alloc(1));
  }));
  commands.listen(0, "127.0.0.1", () => console.log(listener.port + " " + commands.address().port));
`;

/** A POST whose body follows. */
function unfinished(streamId: number): Buffer {
  const frame = requestFrame(streamId);
  frame.writeUInt8(0x4, 4); // END_HEADERS
  frame.writeUInt8(0x83, 9); // :method POST
  return frame;
}

it("a connection that fails within the fields of a request does not end the process when garbage is collected", async () => {
  const child = spawn(process.execPath, ["--expose-gc", "--input-type=module", "--eval", program], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = once(child, "exit");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const [port = 0, commandPort = 0] = String((await lines.next()).value)
    .split(" ")
    .map(Number);
  using connection = await openRawConnection(port);
  using blocker = await openRawConnection(commandPort);
  using collector = await openRawConnection(commandPort);
  await openSilentHttp2(connection);
  await connection.write(unfinished(1));
  await blocker.write("block");
  await lines.next();
  // Node ends the connection for so many resets; the last request goes on in a packet that does not come.
  const resets = Array.from({ length: 1_100 }, (_, at) => {
    const streamId = 2 * at + 3;
    return Buffer.concat([
      unfinished(streamId),
      formatFrame({ type: 3, flags: 0, streamId, payload: Buffer.from([0, 0, 0, 8]) }),
    ]);
  });
  const more = Buffer.from("\u0000\u0003x-a\u0009is cut of", "latin1");
  const payload = Buffer.concat([unfinished(9_999).subarray(9), more]);
  const last = formatFrame({ type: 1, flags: 0x4, streamId: 9_999, payload });
  await connection.write(Buffer.concat([...resets, last.subarray(0, last.length - 4)]));
  await collector.write("collect");
  child.stdin.write("\n"); // it finds both in one turn of its event loop
  await connection.closed();
  const other = fetch(`http://127.0.0.1:${port}`).then((response) => response.text());
  expect(await Promise.race([other, exited])).toBe("served");
  child.kill();
  await exited;
});
