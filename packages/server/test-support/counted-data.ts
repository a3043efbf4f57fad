import { json } from "@a2a-connect/core";
import type { Part } from "@a2a-connect/proto";
import type { Value } from "@bufbuild/protobuf/wkt";

/** A part with so many values that to convert it is work for a turn of the event loop. `onRead` is called when they are read. */
export function countedPart(onRead: () => void): Part {
  const part = json(Array(3_000).fill(1));
  const value = part.content.value as Value; // of the data
  const { kind } = value;
  Object.defineProperty(value, "kind", {
    enumerable: true,
    get() {
      onRead();
      return kind;
    },
  });
  return part;
}
