import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, createFileRegistry, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_descriptor,
  file_google_protobuf_struct,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";

type FieldInit = NonNullable<
  NonNullable<MessageInitShape<typeof FileDescriptorProtoSchema>["messageType"]>[number]["field"]
>[number];

const { STRING, BYTES, BOOL, INT32, INT64 } = ScalarType;
const scalarTypes = Object.values(ScalarType).filter((type): type is ScalarType => typeof type === "number");
const keyTypes = scalarTypes.filter(
  (type) => ![ScalarType.DOUBLE, ScalarType.FLOAT, ScalarType.BYTES].includes(type),
);
const canPack = (type: ScalarType) => type !== STRING && type !== BYTES;

const { OPTIONAL, REPEATED } = FieldDescriptorProto_Label;
const { MESSAGE, ENUM } = FieldDescriptorProto_Type;

interface Kinds {
  readonly scalars: readonly ScalarType[];
  readonly keys: readonly ScalarType[];
  /** Messages, and enums of the same file, that its fields hold. */
  readonly types: readonly string[];
}

/** A message of proto3 with these in each kind of field; it contains itself. */
function makeType(name: string, { scalars, keys, types }: Kinds) {
  const field: FieldInit[] = [];
  const nestedType: { name: string; options: { mapEntry: boolean }; field: FieldInit[] }[] = [];
  const oneofDecl = [{ name: "choice" }];
  const add = (init: FieldInit) => field.push({ number: 1 + field.length * 7, label: OPTIONAL, ...init });
  const addOptional = (init: FieldInit) =>
    add({ ...init, proto3Optional: true, oneofIndex: oneofDecl.push({ name: `_${init.name}` }) - 1 });
  const addMap = (ending: string, key: ScalarType, value: FieldInit) => {
    const entry = `Map${ending}Entry`;
    const members = [
      { name: "key", number: 1, label: OPTIONAL, type: key as number as FieldDescriptorProto_Type }, // as below
      { name: "value", number: 2, label: OPTIONAL, ...value },
    ];
    nestedType.push({ name: entry, options: { mapEntry: true }, field: members });
    add({ name: `map${ending}`, type: MESSAGE, typeName: `.everything.${name}.${entry}`, label: REPEATED });
  };
  for (const scalar of scalars) {
    const ending = ScalarType[scalar].toLowerCase();
    const type = scalar as number as FieldDescriptorProto_Type; // they have the same numbers
    add({ name: `plain_${ending}`, type });
    addOptional({ name: `optional_${ending}`, type });
    add({ name: `list_${ending}`, type, label: REPEATED });
    if (canPack(scalar)) {
      add({ name: `expanded_${ending}`, type, label: REPEATED, options: { packed: false } });
    }
    addMap(ending, STRING, { type });
    add({ name: `oneof_${ending}`, type, oneofIndex: 0 });
  }
  for (const key of keys) {
    addMap(`key${ScalarType[key].toLowerCase()}`, key, { type: FieldDescriptorProto_Type.BOOL });
  }
  for (const typeName of [...types, `.everything.${name}`]) {
    const ending = typeName.slice(typeName.lastIndexOf(".") + 1).toLowerCase();
    const init = { type: typeName === ".everything.Open" ? ENUM : MESSAGE, typeName };
    add({ ...init, name: `one_${ending}` });
    add({ ...init, name: `many_${ending}`, label: REPEATED });
    addMap(ending, STRING, init);
    add({ ...init, name: `chosen_${ending}`, oneofIndex: 0 });
  }
  // those of a oneof stand together, but for the first
  field.push(
    ...field.splice(1).sort((one, other) => Number(one.oneofIndex === 0) - Number(other.oneofIndex === 0)),
  );
  return { name, field, nestedType, oneofDecl };
}

const file = create(FileDescriptorProtoSchema, {
  name: "everything.proto",
  package: "everything",
  syntax: "proto3",
  dependency: [
    "google/protobuf/struct.proto",
    "google/protobuf/wrappers.proto",
    "google/protobuf/descriptor.proto",
  ],
  messageType: [
    makeType("Everything", {
      scalars: [STRING, BYTES, BOOL, INT32, INT64],
      keys: [],
      types: [
        ".google.protobuf.Value",
        ".google.protobuf.Struct",
        ".google.protobuf.ListValue",
        ".everything.Open",
        ".everything.Rest",
      ],
    }),
    makeType("Rest", {
      scalars: scalarTypes,
      keys: keyTypes,
      types: [".google.protobuf.Int64Value", ".google.protobuf.DescriptorProto.ExtensionRange"],
    }),
  ],
  enumType: [
    {
      name: "Open",
      value: [
        { name: "ZERO", number: 0 },
        { name: "ONE", number: 1 },
      ],
    },
  ],
});

function findType(name: string): DescMessage {
  const wellKnown = [
    file_google_protobuf_struct,
    file_google_protobuf_wrappers,
    file_google_protobuf_descriptor,
  ];
  const set = create(FileDescriptorSetSchema, { file: [...wellKnown.map(({ proto }) => proto), file] });
  const made = createFileRegistry(set).getMessage(name);
  if (made === undefined) {
    throw new Error("there is no such message");
  }
  return made;
}

/** What A2A's types may have, each in each kind of field, and a message that has all the rest of what proto3 can say. */
export const EverythingSchema: DescMessage = findType("everything.Everything");
