import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Sets a member as JSON.parse does: `__proto__` is a name like any other, and an assignment would lose it. */
export function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[name] = value;
  }
}
