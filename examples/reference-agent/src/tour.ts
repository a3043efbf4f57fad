import { crc32, deflateSync } from "node:zlib";
import { bytes, text } from "@a2a-connect/core";
import type { DurableEvent, DurableTask } from "@a2a-connect/server";

const words = `## What you see

Each word of this text is an **event** of the task. The server had stored it *before* you saw it, so nothing is lost when a
connection breaks, or when the process dies:

1. Send \`stream 100 200\`, and while it runs, send \`crash\`.
2. The process is killed, and a new one goes on with the task.
3. The page connects again with the number of its last event.

| what a message says | what happens |
| --- | --- |
| \`ask Which colour?\` | the agent asks, and waits for your answer |
| \`steps 5 1000\` | five steps, each done once, even when the process is killed |
| \`parts\` | one part of every kind |

Below are a table and a picture. Open the task to see all of its events.
`;

const wires = [
  { wire: "gRPC", encoding: "protobuf", streams: "HTTP/2 frames", browsers: "no" },
  { wire: "gRPC-Web", encoding: "protobuf", streams: "HTTP body", browsers: "yes" },
  { wire: "Connect", encoding: "protobuf or JSON", streams: "HTTP body", browsers: "yes" },
  { wire: "HTTP+JSON", encoding: "JSON", streams: "server-sent events", browsers: "yes" },
  { wire: "JSON-RPC", encoding: "JSON", streams: "server-sent events", browsers: "yes" },
];

/** Milliseconds between two pieces of the text. */
const pauseMs = 40;

/** Shows what an answer may consist of, in about four seconds. */
export async function* tour(task: DurableTask): AsyncGenerator<DurableEvent> {
  const pieces = words.match(/\S+\s*/g) ?? [];
  for (const [index, piece] of pieces.entries()) {
    if (index % 20 === 0)
      yield task.working("Telling what there is to see", { progress: index / pieces.length });
    yield task.append("tour", text(piece, { mediaType: "text/markdown" }));
    await task.sleep(pauseMs);
  }
  yield task.artifact({ name: "five wires", data: wires });
  yield task.artifact({
    name: "picture",
    parts: [bytes(drawPng(480, 120), { mediaType: "image/png", filename: "waves.png" })],
  });
  yield task.complete("That was all. Ask me something, or look into the task.");
}

/** A picture of waves, as PNG (RFC 2083): it needs no file. */
function drawPng(width: number, height: number): Uint8Array {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const wave = Math.sin(x / 38 + Math.sin(y / 21) * 1.6) * 0.5 + 0.5;
      const depth = y / height;
      rows.set(
        [15 + 40 * wave, 90 + 110 * wave - 40 * depth, 100 + 90 * depth + 40 * wave],
        y * (1 + width * 3) + 1 + x * 3,
      );
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8); // eight bits for each of red, green and blue
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}
