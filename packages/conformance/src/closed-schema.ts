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

/** Defects that are looked for in one message. A card of 1 MiB has room for 300,000. */
export const maxDefects = 1_000;

/**
 * What is wrong with the JSON of a message by the schema of the proto, which is closed: no other members, names in
 * lowerCamelCase, enums as names, times in UTC, standard base64, all REQUIRED members, one member of each oneof.
 *
 * @param isAllowed leaves defects out. Default: none
 * @returns the first `maxDefects`
 */
export function findDefects(
  desc: DescMessage,
  value: unknown,
  isAllowed: (defect: Defect) => boolean = () => false,
): Defect[] {
  const found: Defect[] = [];
  for (const defect of defectsOf(desc, value, "")) {
    if (!isAllowed(defect)) found.push(defect);
    if (found.length === maxDefects) break;
  }
  return found;
}

function* defectsOf(desc: DescMessage, value: unknown, path: string): Generator<Defect, void> {
  if (!isObject(value)) {
    yield wrong(path, `is no ${desc.name}, but ${kindOf(value)}`);
    return;
  }
  const byName = new Map(desc.fields.map((field) => [field.jsonName, field]));
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  for (const field of desc.fields) {
    const { jsonName } = field;
    if (isRequiredField(field) && !(jsonName in value)) {
      yield { path: at(jsonName), kind: "missing", problem: "is REQUIRED and not there" };
    }
  }
  for (const { fields } of desc.oneofs) {
    const there = fields.filter(({ jsonName }) => jsonName in value);
    const names = (there.length === 0 ? fields : there).map(({ jsonName }) => jsonName);
    if (there.length === 0) yield wrong(path, `has none of ${names.join(", ")}`);
    if (there.length > 1) yield wrong(path, `has ${names.join(" and ")}, of which only one is allowed`);
  }
  for (const [name, member] of Object.entries(value)) {
    const field = byName.get(name);
    if (field === undefined) {
      yield { path: at(name), kind: "unknown", problem: `is no member of ${desc.name}` };
    } else yield* fieldDefects(field, member, at(name));
  }
}

function* fieldDefects(field: DescField, value: unknown, path: string): Generator<Defect, void> {
  switch (field.fieldKind) {
    case "list":
      if (!Array.isArray(value)) yield wrong(path, `is no array, but ${kindOf(value)}`);
      else
        for (const [index, element] of value.entries())
          yield* valueDefects(field, element, `${path}[${index}]`);
      return;
    case "map":
      if (!isObject(value)) yield wrong(path, `is no object, but ${kindOf(value)}`);
      else
        for (const [key, element] of Object.entries(value))
          yield* valueDefects(field, element, `${path}.${key}`);
      return;
    default:
      yield* valueDefects(field, value, path);
  }
}

function* valueDefects(
  { message, enum: names, scalar }: Pick<DescField, "message" | "enum" | "scalar">,
  value: unknown,
  path: string,
): Generator<Defect, void> {
  if (message !== undefined) {
    yield* messageDefects(message, value, path);
  } else if (names !== undefined) {
    const known = names.values.some(({ name }) => name === value);
    if (!known) yield wrong(path, `is ${shown(value)}, which is no name of ${names.name}`);
  } else {
    const fits = scalarTests[scalar ?? ScalarType.STRING] ?? isText;
    if (!fits(value)) yield wrong(path, `is ${shown(value)}, not ${ScalarType[scalar ?? 9]}`);
  }
}

function* messageDefects(desc: DescMessage, value: unknown, path: string): Generator<Defect, void> {
  switch (desc.typeName) {
    case "google.protobuf.Value":
      return;
    case "google.protobuf.Struct":
      if (!isObject(value)) yield wrong(path, `is no object, but ${kindOf(value)}`);
      return;
    case "google.protobuf.Timestamp":
      if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(value)) {
        yield wrong(path, `is ${shown(value)}, not a time such as 2026-01-31T12:00:00.000Z`);
      }
      return;
    default:
      yield* defectsOf(desc, value, path);
  }
}

/** A value in JSON, cut off where it gets long: as many as there are defects are in memory, and are shown to people. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
}

const maxShownLength = 200;

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
