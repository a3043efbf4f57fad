import { MessageSchema, PartSchema, SendMessageRequestSchema } from "@a2a-connect/proto";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Protobuf written by hand: what no encoder of ours would write. Field numbers come from the proto. */

/** The bytes of a SendMessageRequest whose message is these bytes. */
export function requestOf(message: Uint8Array): Uint8Array {
  return new BinaryWriter()
    .tag(SendMessageRequestSchema.field.message.number, WireType.LengthDelimited)
    .bytes(message)
    .finish();
}

/** The bytes of a whole message, whose only part's text is these bytes. */
export function messageWithText(text: Uint8Array): Uint8Array {
  const part = new BinaryWriter().tag(PartSchema.field.text.number, WireType.LengthDelimited).bytes(text);
  return new BinaryWriter()
    .tag(MessageSchema.field.messageId.number, WireType.LengthDelimited)
    .string("m-1")
    .tag(MessageSchema.field.role.number, WireType.Varint)
    .int32(1)
    .tag(MessageSchema.field.parts.number, WireType.LengthDelimited)
    .bytes(part.finish())
    .finish();
}

/** A good request but for its metadata: so many objects inside each other. */
export function requestWithDeepMetadata(depth: number): Uint8Array {
  const metadata = new BinaryWriter()
    .tag(MessageSchema.field.metadata.number, WireType.LengthDelimited)
    .bytes(deepStruct(depth))
    .finish();
  return requestOf(Buffer.concat([messageWithText(new TextEncoder().encode("deep")), metadata]));
}

/** Field numbers of google.protobuf.Struct: the entries of its map, their keys and values, and Value.struct_value. */
const structField = { entry: 1, key: 1, value: 2, structValue: 5 };

/** Written from the inside to the outside, and so in linear time. */
function deepStruct(depth: number): Uint8Array {
  const heads: Uint8Array[] = [];
  let length = 0;
  const enclose = (field: number, before?: Uint8Array) => {
    const head = new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length).finish();
    heads.push(head);
    length += head.byteLength;
    if (before !== undefined) {
      heads.push(before);
      length += before.byteLength;
    }
  };
  const key = new BinaryWriter().tag(structField.key, WireType.LengthDelimited).string("a").finish();
  for (let level = 1; level < depth; level++) {
    enclose(structField.structValue);
    enclose(structField.value, key);
    enclose(structField.entry);
  }
  return Buffer.concat(heads.toReversed());
}
