import fc from "fast-check";

/** One change of bytes that knows nothing of what they mean. */
export interface Damage {
  readonly kind: "cut" | "set" | "insert" | "remove" | "repeat";
  readonly place: number;
  readonly byte: number;
}

/** Any change; some bytes that lengths, tags and texts begin with are more frequent. */
export const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom("cut", "set", "insert", "remove", "repeat"),
  place: fc.nat(),
  byte: fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(0x00, 0x01, 0x0a, 0x0b, 0x0c, 0x12, 0x7f, 0x80, 0xff),
  ),
});

export function applyDamage(bytes: Uint8Array, { kind, place, byte }: Damage): Uint8Array {
  const at = place % (bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (kind) {
    case "cut":
      return before;
    case "set":
      return Buffer.concat([before, [byte], after.subarray(1)].map((part) => Buffer.from(part)));
    case "insert":
      return Buffer.concat([before, [byte], after].map((part) => Buffer.from(part)));
    case "remove":
      return Buffer.concat([before, after.subarray(1)]);
    case "repeat":
      return Buffer.concat([before, after, after]);
  }
}

/** The bytes in chunks of these sizes, in turn; the rest is the last chunk. */
export function cutIntoChunks(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let from = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(from, from + size));
    from += size;
  }
  return [...chunks, bytes.subarray(from)];
}

/** Sizes of chunks: short ones, none, and now and then one that is longer than a prefix or a tag. */
export const chunkSizes: fc.Arbitrary<number[]> = fc.array(fc.integer({ min: 0, max: 40 }), {
  maxLength: 60,
});
