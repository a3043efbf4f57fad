import type { DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/**
 * How many fields a message has, at any depth, before objects are made of its bytes. Packed fields, which A2A does not have, count one.
 * `decodeMessage` of core counts as it decodes, but would add several kilobytes to every page.
 *
 * @param atMost where it stops: beyond this number
 * @throws Error for bytes that are no message
 */
export function countFields(desc: DescMessage, bytes: Uint8Array, atMost: number): number {
  const reader = new BinaryReader(bytes);
  let fields = 0;
  const read = (contentOf: Content, end: number): void => {
    while (reader.pos < end && fields <= atMost) {
      const [number, wireType] = reader.tag();
      fields += 1;
      const content = wireType === WireType.LengthDelimited ? contentOf(number) : undefined;
      if (content === undefined) reader.skip(wireType, number);
      else read(content, reader.uint32() + reader.pos);
    }
  };
  read(messageContent(desc), bytes.length);
  return fields;
}

/** What is in a field of this number; undefined when it is no message. */
type Content = (number: number) => Content | undefined;

function messageContent({ fields }: DescMessage): Content {
  return (number) => {
    const field = fields.find((each) => each.number === number);
    const content = field?.message && messageContent(field.message);
    return field?.fieldKind === "map" ? (part) => (part === 2 ? content : undefined) : content;
  };
}
