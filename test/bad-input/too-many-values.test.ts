import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { messageWithText, requestOf } from "./protobuf-bytes.ts";
import { findProblem, serveTarget } from "./target.ts";
import { encodeBytes, protoWires } from "./wires.ts";

const maxValues = 100;
const target = serveTarget({ wires: { maxValues } });

const nothing = new Uint8Array();
const text = new TextEncoder().encode("hi");
const good = messageWithText(text);
/** The request's message, its id, its role, a part and its text. */
const goodValues = 5;

/** Fields of this number, one after the other, each with this content. */
function fields(number: number, content: Uint8Array, times: number): Uint8Array {
  const writer = new BinaryWriter();
  for (let count = 0; count < times; count++) writer.tag(number, WireType.LengthDelimited).bytes(content);
  return writer.finish();
}

const field = (number: number, content: Uint8Array) => fields(number, content, 1);
const nullValue = new Uint8Array([0x08, 0x00]);
const list = (length: number) => field(6, fields(1, nullValue, length));
const object = (members: number) => field(5, fields(1, field(2, nullValue), members));

/** What is added to a good message, and how many values it comes to. */
const shapes: readonly (readonly [title: string, values: number, bytes: Uint8Array])[] = [
  ["elements of a list in a data part", 92, field(5, field(4, list(90)))],
  ["members of an object in a data part", 92, field(5, field(4, object(45)))],
  ["elements of a list in metadata", 93, field(6, field(1, field(2, list(90))))],
  ["members of an object in metadata", 93, field(6, field(1, field(2, object(45))))],
  ["parts", 92, fields(5, field(1, text), 46)],
  ["extensions", 92, fields(7, text, 92)],
  ["unknown fields", 92, fields(99, nothing, 92)],
  ["unknown fields of a part", 94, field(5, Buffer.concat([field(1, text), fields(99, nothing, 92)]))],
];

for (const wire of protoWires) {
  describe(`values in a request over ${wire.name}`, () => {
    for (const [title, values, bytes] of shapes) {
      const withMore = (more: number) =>
        encodeBytes(wire, requestOf(Buffer.concat([good, bytes, fields(98, nothing, more)])));
      const rest = maxValues - goodValues - values;

      it(`may be as many as the limit says: ${title}`, async () => {
        expect(findProblem(wire, await target.send(withMore(rest)))).toBeUndefined();
      });

      it(`may not be one more: ${title}`, async () => {
        const refusal = await target.refuses(wire, withMore(rest + 1), { error: "invalidParams" });
        expect(refusal.message).toContain("has more than 100 values, counting each member name as one");
      });
    }
  });
}
