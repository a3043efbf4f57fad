import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventParser, type ServerSentEvent } from "./parse-events.ts";

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const size of sizes) {
    yield bytes.subarray(from, from + size);
    from += size;
  }
  yield bytes.subarray(from);
}

/** The events of a stream, as its readers take them. */
async function* parseEvents(
  chunks: AsyncIterable<Uint8Array>,
  maxLength?: number,
): AsyncGenerator<ServerSentEvent> {
  const parser = new EventParser(maxLength);
  for await (const chunk of chunks) {
    parser.push(chunk);
    for (let event = parser.next(); event !== undefined; event = parser.next()) yield event;
  }
  parser.end();
}

async function parse(
  text: string,
  sizes: readonly number[] = [],
  maxLength?: number,
): Promise<ServerSentEvent[]> {
  return Array.fromAsync(parseEvents(cut(new TextEncoder().encode(text), sizes), maxLength));
}

describe("EventParser", () => {
  for (const [name, text, want] of [
    ["nothing", "", []],
    ["one event", "data: a\n\n", ["a"]],
    ["data without a space", "data:a\n\n", ["a"]],
    ["only the first space is dropped", "data:  a\n\n", [" a"]],
    ["data over lines", "data: a\ndata: b\n\n", ["a\nb"]],
    ["a data line without a colon", "data\n\n", [""]],
    ["two empty data lines", "data\ndata\n\n", ["\n"]],
    ["CRLF", "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", ["a\nb", "c"]],
    ["CR", "data: a\r\rdata: b\r\r", ["a", "b"]],
    ["mixed line ends", "data: a\r\n\ndata: b\n\r\n", ["a", "b"]],
    ["a byte order mark", "\ufeffdata: a\n\n", ["a"]],
    ["a byte order mark that is data", "data: \ufeffa\n\n", ["\ufeffa"]],
    ["comments", ": hi\n\n:\ndata: a\n: there\ndata: b\n\n", ["a\nb"]],
    ["unknown fields", "event: x\nretry: 5\nfoo: bar\ndata: a\n\n", ["a"]],
    ["blank lines between events", "\n\n\ndata: a\n\n\n\n", ["a"]],
    ["an event without data", "id: 4\n\ndata: a\n\n", ["a"]],
    ["a stream that ends in CR", "data: a\n\r", ["a"]],
    ["line separators that are no line ends", "data: a\u2028b\u0085c\n\n", ["a\u2028b\u0085c"]],
  ] as const) {
    it(`reads ${name} (I-6)`, async () => {
      expect((await parse(text)).map(({ data }) => data)).toEqual(want);
    });
  }

  it("keeps the last id until another one comes", async () => {
    const events = await parse("data: a\n\nid: 1\ndata: b\n\ndata: c\n\nid: x\0\ndata: d\n\nid\ndata: e\n\n");
    expect(events.map(({ lastEventId }) => lastEventId)).toEqual(["", "1", "1", "1", ""]);
  });

  it("reads the same however the bytes are cut", async () => {
    const line = fc.oneof(
      fc.constantFrom("", "data", "data:", ":", "id: 7", "id", "event: x"),
      fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
    );
    const stream = fc
      .array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n")), { maxLength: 30 })
      .map((lines) => `${lines.flat().join("")}\n\n`);
    const sizes = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(stream, sizes, async (text, cuts) => {
        expect(await parse(text, cuts)).toEqual(await parse(text));
      }),
    );
  });

  for (const text of ["data: a\n\ndata: b", "data: a\n\ndata: b\n"]) {
    it(`takes an end after ${JSON.stringify(text)} for a broken connection`, async () => {
      const events = parseEvents(cut(new TextEncoder().encode(text), []));
      expect((await events.next()).value).toMatchObject({ data: "a" });
      await expect(events.next()).rejects.toMatchObject({ code: Code.Unavailable });
    });
  }

  it("holds a line that comes in pieces of one byte in about its length", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const parser = new EventParser();
    const one = Uint8Array.of(0x61);
    const length = 1_000_000;
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < length; at++) {
      parser.push(one);
      parser.next();
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2 * length); // 32 times as much before it is put together
    parser.push(new TextEncoder().encode("\ndata: b\n\n"));
    expect(parser.next()?.data).toBe("b");
  });

  it("refuses an event that grows beyond the limit", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      while (true) {
        yield new TextEncoder().encode("data: 0123456789\n");
      }
    }
    await expect(Array.fromAsync(parseEvents(endless(), 1000))).rejects.toMatchObject({
      code: Code.ResourceExhausted,
    });
    const lines = (count: number) => parse("data\n".repeat(count).concat("\n"), [], 1000);
    expect(await lines(20)).toHaveLength(1);
    await expect(lines(40)).rejects.toMatchObject({ code: Code.ResourceExhausted }); // each line takes memory, too
    const short = new TextEncoder().encode("data: a\n\n".repeat(1000));
    expect(await Array.fromAsync(parseEvents(cut(short, [10, 20]), 20))).toHaveLength(1000);
  });
});
