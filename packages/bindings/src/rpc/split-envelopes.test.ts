import { encodeEnvelope } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitEnvelopes } from "./split-envelopes.ts";

const maxBytes = 100;

/** These bytes in chunks of such lengths, the last one with what is left; and whether they were read to their end. */
function divide(bytes: Uint8Array, lengths: readonly number[]) {
  const reading = { isOver: false };
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let at = 0;
    for (const length of lengths) {
      yield bytes.subarray(at, at + length);
      at += length;
    }
    yield bytes.subarray(at);
    reading.isOver = true;
  }
  return { chunks: chunks(), reading };
}

async function split(bytes: Uint8Array, lengths: readonly number[]) {
  const { chunks, reading } = divide(bytes, lengths);
  const pieces: number[][] = [];
  for await (const piece of splitEnvelopes(chunks, maxBytes)) pieces.push([...piece]);
  return { pieces, ...reading };
}

describe("the envelopes of a body", () => {
  it("come whole and one by one, however the body is divided", async () => {
    const message = fc.uint8Array({ maxLength: maxBytes });
    const envelopes = fc.array(fc.tuple(fc.nat(255), message), { maxLength: 5 });
    const lengths = fc.array(fc.nat(20), { maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(envelopes, lengths, async (sent, divided) => {
        const each = sent.map(([flags, data]) => [...encodeEnvelope(flags, data)]);
        const { pieces, isOver } = await split(Uint8Array.from(each.flat()), divided);
        expect(pieces).toEqual(each);
        expect(isOver).toBe(true);
      }),
    );
  });

  it("are given before the chunk after them is read", async () => {
    const bytes = Uint8Array.from([
      ...encodeEnvelope(0, Uint8Array.of(1)),
      ...encodeEnvelope(1, new Uint8Array()),
    ]);
    const { chunks, reading } = divide(bytes, [bytes.length]);
    const pieces = splitEnvelopes(chunks, maxBytes);
    expect((await pieces.next()).value).toEqual(encodeEnvelope(0, Uint8Array.of(1)));
    expect((await pieces.next()).value).toEqual(encodeEnvelope(1, new Uint8Array()));
    expect(reading.isOver).toBe(false);
  });

  it.each([1, 4, 5, 7])("end with the %i bytes that are the beginning of one", async (length) => {
    const whole = encodeEnvelope(0, Uint8Array.of(1, 2, 3));
    const { pieces } = await split(Uint8Array.from([...whole, ...whole.subarray(0, length)]), [1, 1, 1]);
    expect(pieces).toEqual([[...whole], [...whole.subarray(0, length)]]);
  });

  it("end with the prefix of one that announces too much, and no more is read", async () => {
    const tooLong = encodeEnvelope(0, new Uint8Array(maxBytes + 1));
    const { pieces, isOver } = await split(tooLong, [3, 2, 50]);
    expect(pieces).toEqual([[0, 0, 0, 0, maxBytes + 1]]);
    expect(isOver).toBe(false);
  });
});
