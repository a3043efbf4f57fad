import type { Part } from "@a2a-connect/proto";
import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";

/** What the first data part holds; undefined when there is none. */
export function readData(parts: readonly Part[]): JsonValue | undefined {
  const found = parts.find(({ content }) => content.case === "data");
  return found?.content.case === "data" ? toJson(ValueSchema, found.content.value) : undefined;
}
