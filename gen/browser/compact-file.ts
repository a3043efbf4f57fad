import type {
  DescEnum,
  DescField,
  DescFile,
  DescMessage,
  DescMethod,
  DescOneof,
  DescService,
} from "@bufbuild/protobuf";

/**
 * A file's descriptor from a short text, for pages: it takes a third of the encoded descriptor, and needs none of the
 * code with which protobuf-es decodes and links one. It has no options, no comments and no `proto`, but for the name and
 * the package of the file. `pnpm generate` writes the texts (`generate.ts`), a line for each type, in the proto's order:
 *
 *     Task id:9 status:TaskStatus parts:*Part size:?5 payload/text:9 scopes:%9 @7 generation:3
 *     =Role ROLE_UNSPECIFIED ROLE_USER
 *     >A2AService GetTask:GetTaskRequest:Task SubscribeToTask:SubscribeToTaskRequest:*StreamResponse
 *
 * A field has the number after the one before it, or that of the `@` before it. Its type is the number of a scalar, or
 * a name; `*` repeats it, `?` makes it optional, `%` makes it the value of a map whose keys are strings. `/` puts it in a
 * oneof. `=` is an enum, whose values count from 0, `>` a service.
 */
export function compactFile(path: string, text: string, dependencies: readonly DescFile[] = []): DescFile {
  const packageName = path.replace(/\/[^/]+$/, "").replaceAll("/", ".");
  const file = {
    kind: "file",
    edition: proto3,
    name: path.replace(/\.proto$/, ""),
    dependencies: [...dependencies],
    enums: [],
    messages: [],
    extensions: [],
    services: [],
    deprecated: false,
    proto: { name: path, package: packageName },
    toString: () => `file ${path}`,
  } as unknown as DescFile; // its proto has no more than these two
  const types = new Map<string, DescMessage | DescEnum>(
    dependencies.flatMap(({ messages, enums }) =>
      [...messages, ...enums].map((each) => [`.${each.typeName}`, each]),
    ),
  );
  /** The type of a name that a text has: one that begins with a point is complete. */
  const typeOf = (name: string) => types.get(name.startsWith(".") ? name : `.${packageName}.${name}`);
  const lines = text
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  for (const [name = "", ...words] of lines) {
    const typeName = `${packageName}.${name.replace("=", "")}`;
    if (name.startsWith("=")) {
      file.enums.push(enumOf(file, typeName, words));
      types.set(`.${typeName}`, file.enums.at(-1) as DescEnum);
    } else if (!name.startsWith(">")) {
      const parent = typeOf(name.replace(/\.?[^.]*$/, "")) as DescMessage | undefined;
      const message = messageOf(file, parent, typeName);
      (parent?.nestedMessages ?? file.messages).push(message);
      types.set(`.${typeName}`, message);
    }
  }
  for (const [name = "", ...words] of lines) {
    if (name.startsWith(">")) {
      file.services.push(serviceOf(file, `${packageName}.${name.slice(1)}`, words, typeOf));
    } else if (!name.startsWith("=")) {
      addFields(typeOf(name) as DescMessage, words, typeOf);
    }
  }
  return file;
}

const proto3 = 999;
const [explicit, implicit] = [1, 2] as const;
const [string, bytes] = [9, 12];

/** What every descriptor has but these do not keep. */
const common = { deprecated: false, proto: undefined as never };

type TypeOf = (name: string) => DescMessage | DescEnum | undefined;

function enumOf(file: DescFile, typeName: string, names: readonly string[]): DescEnum {
  const name = lastOf(typeName);
  const prefix = `${name.replace(/(?!^)[A-Z]/g, "_$&").toLowerCase()}_`;
  const sharedPrefix = names.every((each) => each.toLowerCase().startsWith(prefix)) ? prefix : undefined;
  const desc: DescEnum = {
    ...common,
    kind: "enum",
    typeName,
    name,
    file,
    parent: undefined,
    open: true,
    value: {},
    values: [],
    ...(sharedPrefix !== undefined && { sharedPrefix }),
    toString: () => `enum ${typeName}`,
  };
  for (const [number, each] of names.entries()) {
    const value = {
      ...common,
      kind: "enum_value" as const,
      name: each,
      localName: each.slice(sharedPrefix?.length ?? 0),
      parent: desc,
      number,
      jsonName: each,
      toString: () => `enum value ${typeName}.${each}`,
    };
    desc.values.push(value);
    desc.value[number] = value;
  }
  return desc;
}

function messageOf(file: DescFile, parent: DescMessage | undefined, typeName: string): DescMessage {
  return {
    ...common,
    kind: "message",
    typeName,
    name: lastOf(typeName),
    file,
    parent,
    fields: [],
    field: {},
    oneofs: [],
    members: [],
    nestedEnums: [],
    nestedMessages: [],
    nestedExtensions: [],
    toString: () => `message ${typeName}`,
  };
}

function addFields(message: DescMessage, words: readonly string[], typeOf: TypeOf): void {
  let number = 0;
  for (const word of words) {
    if (word.startsWith("@")) {
      number = Number(word.slice(1)) - 1;
      continue;
    }
    number += 1;
    const [, group, name = "", label = "", type = ""] = /^(?:(\w+)\/)?(\w+):([*?%]?)(.*)$/.exec(word) ?? [];
    const oneof = group === undefined ? undefined : oneofOf(message, group);
    const field = fieldOf(message, oneof, { name, number, label, type: typeOf(type) ?? Number(type) });
    message.fields.push(field);
    message.field[field.localName] = field;
    (oneof?.fields ?? message.members).push(field);
  }
}

/** The oneof of a name, which its first field adds. */
function oneofOf(message: DescMessage, name: string): DescOneof {
  const known = message.oneofs.find((each) => each.name === name);
  if (known !== undefined) {
    return known;
  }
  const oneof: DescOneof = {
    ...common,
    kind: "oneof",
    name,
    localName: camelCase(name),
    parent: message,
    fields: [],
    toString: () => `oneof ${message.typeName}.${name}`,
  };
  message.oneofs.push(oneof);
  message.members.push(oneof);
  return oneof;
}

interface Field {
  readonly name: string;
  readonly number: number;
  readonly label: string;
  readonly type: DescMessage | DescEnum | number;
}

function fieldOf(
  parent: DescMessage,
  oneof: DescOneof | undefined,
  { name, number, label, type }: Field,
): DescField {
  const localName = camelCase(name);
  const scalar = typeof type === "number" ? type : undefined;
  const message = typeof type !== "number" && type.kind === "message" ? type : undefined;
  const valueKind = scalar !== undefined ? "scalar" : message !== undefined ? "message" : "enum";
  const [isList, isMap] = [label === "*", label === "%"];
  const isSingular = !isList && !isMap;
  const isExplicit = isSingular && (oneof !== undefined || label === "?" || message !== undefined);
  return {
    ...common,
    kind: "field",
    name,
    localName,
    jsonName: localName,
    number,
    parent,
    oneof,
    scalar,
    message,
    enum: typeof type !== "number" && type.kind === "enum" ? type : undefined,
    fieldKind: isList ? "list" : isMap ? "map" : valueKind,
    listKind: isList ? valueKind : undefined,
    mapKind: isMap ? valueKind : undefined,
    mapKey: isMap ? string : undefined,
    presence: isExplicit ? explicit : implicit,
    utf8Validation: true,
    delimitedEncoding: isMap || message !== undefined ? false : undefined,
    packed: isList ? message === undefined && scalar !== string && scalar !== bytes : undefined,
    longAsString: false,
    getDefaultValue: isSingular ? () => undefined : undefined,
    toString: () => `field ${parent.typeName}.${name}`,
  } as DescField; // the members of one kind of field, and undefined for those of the others
}

function serviceOf(file: DescFile, typeName: string, words: readonly string[], typeOf: TypeOf): DescService {
  const service: DescService = {
    ...common,
    kind: "service",
    typeName,
    name: lastOf(typeName),
    file,
    methods: [],
    method: {},
    toString: () => `service ${typeName}`,
  };
  for (const word of words) {
    const [name = "", input = "", output = ""] = word.split(":");
    const method = {
      ...common,
      kind: "rpc",
      name,
      localName: name.charAt(0).toLowerCase() + name.slice(1),
      parent: service,
      methodKind: output.startsWith("*") ? "server_streaming" : "unary",
      input: typeOf(input),
      output: typeOf(output.replace("*", "")),
      idempotency: 0,
      toString: () => `rpc ${typeName}.${name}`,
    } as DescMethod; // the generated text names messages
    service.methods.push(method);
    service.method[method.localName] = method;
  }
  return service;
}

function camelCase(name: string): string {
  return name.replace(/_+([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
}

function lastOf(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf(".") + 1);
}
