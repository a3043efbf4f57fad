import { isObject, isRequiredField } from "@a2a-connect/core/internal";
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

/** Something in a JSON value that its schema does not allow. */
export interface Defect {
  /** For example `task.history[0].kind`. */
  readonly path: string;
  /** For example `is no member of Message`. */
  readonly problem: string;
  /** Whether it is a member too much, a member too few, or a value that is not of its type. */
  readonly kind: "unknown" | "missing" | "value";
}

/**
 * Whether a member that `findDefects` finds in a card is one of A2A 0.3, which a card for callers of both versions has
 * beside those of 1.0.
 */
export function isOlderMember({ kind, path }: Pick<Defect, "kind" | "path">): boolean {
  return kind === "unknown" && olderMembers.test(path);
}

const olderMembers =
  /^(url|protocolVersion|preferredTransport|additionalInterfaces|security|supportsAuthenticatedExtendedCard|capabilities\.stateTransitionHistory|skills\[\d+\]\.security|securitySchemes\..+\.(type|description|in|name|scheme|bearerFormat|flows|oauth2MetadataUrl|openIdConnectUrl))$/;

/**
 * What is wrong with the JSON of a message by the schema of the proto, which is closed: no other members, names in
 * lowerCamelCase, enums as names, times in UTC, standard base64, all REQUIRED members, one member of each oneof.
 */
export function findDefects(desc: DescMessage, value: unknown, path = ""): Defect[] {
  if (!isObject(value)) return [wrong(path, `is no ${desc.name}, but ${kindOf(value)}`)];
  const byName = new Map(desc.fields.map((field) => [field.jsonName, field]));
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const missing = desc.fields
    .filter((field) => isRequiredField(field) && !(field.jsonName in value))
    .map(({ jsonName }) => ({
      path: at(jsonName),
      kind: "missing" as const,
      problem: "is REQUIRED and not there",
    }));
  const choices = desc.oneofs.flatMap(({ fields }) => {
    const there = fields.filter(({ jsonName }) => jsonName in value);
    const names = (there.length === 0 ? fields : there).map(({ jsonName }) => jsonName);
    if (there.length === 0) return [wrong(path, `has none of ${names.join(", ")}`)];
    return there.length > 1 ? [wrong(path, `has ${names.join(" and ")}, of which only one is allowed`)] : [];
  });
  const members = Object.entries(value).flatMap(([name, member]) => {
    const field = byName.get(name);
    return field === undefined
      ? [{ path: at(name), kind: "unknown" as const, problem: `is no member of ${desc.name}` }]
      : findFieldDefects(field, member, at(name));
  });
  return [...missing, ...choices, ...members];
}

function findFieldDefects(field: DescField, value: unknown, path: string): Defect[] {
  switch (field.fieldKind) {
    case "list":
      return Array.isArray(value)
        ? value.flatMap((element, index) => findValueDefects(field, element, `${path}[${index}]`))
        : [wrong(path, `is no array, but ${kindOf(value)}`)];
    case "map":
      return isObject(value)
        ? Object.entries(value).flatMap(([key, element]) =>
            findValueDefects(field, element, `${path}.${key}`),
          )
        : [wrong(path, `is no object, but ${kindOf(value)}`)];
    default:
      return findValueDefects(field, value, path);
  }
}

function findValueDefects(
  { message, enum: names, scalar }: Pick<DescField, "message" | "enum" | "scalar">,
  value: unknown,
  path: string,
): Defect[] {
  if (message !== undefined) return findMessageDefects(message, value, path);
  if (names !== undefined) {
    const known = names.values.some(({ name }) => name === value);
    return known ? [] : [wrong(path, `is ${JSON.stringify(value)}, which is no name of ${names.name}`)];
  }
  const fits = scalarTests[scalar ?? ScalarType.STRING] ?? isText;
  return fits(value) ? [] : [wrong(path, `is ${JSON.stringify(value)}, not ${ScalarType[scalar ?? 9]}`)];
}

function findMessageDefects(desc: DescMessage, value: unknown, path: string): Defect[] {
  switch (desc.typeName) {
    case "google.protobuf.Value":
      return [];
    case "google.protobuf.Struct":
      return isObject(value) ? [] : [wrong(path, `is no object, but ${kindOf(value)}`)];
    case "google.protobuf.Timestamp":
      return typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(value)
        ? []
        : [wrong(path, `is ${JSON.stringify(value)}, not a time such as 2026-01-31T12:00:00.000Z`)];
    default:
      return findDefects(desc, value, path);
  }
}

const isText = (value: unknown): boolean => typeof value === "string";

const scalarTests: Readonly<Partial<Record<ScalarType, (value: unknown) => boolean>>> = {
  [ScalarType.BOOL]: (value) => typeof value === "boolean",
  [ScalarType.INT32]: (value) => Number.isInteger(value),
  [ScalarType.INT64]: (value) => typeof value === "string" && /^-?\d+$/.test(value),
  [ScalarType.DOUBLE]: (value) => typeof value === "number",
  [ScalarType.BYTES]: (value) =>
    typeof value === "string" && /^([A-Za-z\d+/]{4})*([A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(value),
};

function wrong(path: string, problem: string): Defect {
  return { path, problem, kind: "value" };
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "an array" : typeof value;
}
