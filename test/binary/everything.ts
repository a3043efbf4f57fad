import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, createFileRegistry, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import {
  Edition,
  FeatureSet_EnumType,
  FeatureSet_FieldPresence,
  FeatureSet_MessageEncoding,
  FeatureSet_RepeatedFieldEncoding,
  FeatureSet_Utf8Validation,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_struct,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";

type FieldInit = NonNullable<
  NonNullable<MessageInitShape<typeof FileDescriptorProtoSchema>["messageType"]>[number]["field"]
>[number];

const scalarTypes = Object.values(ScalarType).filter((type): type is ScalarType => typeof type === "number");
const keyTypes = scalarTypes.filter(
  (type) => ![ScalarType.DOUBLE, ScalarType.FLOAT, ScalarType.BYTES].includes(type),
);
const canPack = (type: ScalarType) => type !== ScalarType.STRING && type !== ScalarType.BYTES;

const { OPTIONAL, REPEATED } = FieldDescriptorProto_Label;
const { MESSAGE, ENUM } = FieldDescriptorProto_Type;
const { IMPLICIT } = FeatureSet_FieldPresence;

const own = ".everything.Everything";

/** What protobuf can say: each scalar in each kind of field, maps of each key, groups, closed enums, wrapped values. */
function makeEverything(): DescMessage {
  const field: FieldInit[] = [];
  const entries: string[] = [];
  const add = (init: FieldInit) => field.push({ number: 1 + field.length * 7, label: OPTIONAL, ...init });
  for (const scalar of scalarTypes) {
    const name = ScalarType[scalar].toLowerCase();
    const type = scalar as number as FieldDescriptorProto_Type; // they have the same numbers
    add({ name: `plain_${name}`, type, options: { features: { fieldPresence: IMPLICIT } } });
    add({ name: `optional_${name}`, type });
    add({ name: `oneof_${name}`, type, oneofIndex: 0 });
    add({ name: `list_${name}`, type, label: REPEATED });
    if (canPack(scalar)) {
      const { EXPANDED } = FeatureSet_RepeatedFieldEncoding;
      const options = { features: { repeatedFieldEncoding: EXPANDED } };
      add({ name: `expanded_${name}`, type, label: REPEATED, options });
    }
  }
  const types = {
    value: "Value",
    struct: "Struct",
    list_value: "ListValue",
    wrapped: "Int64Value",
    bytes: "BytesValue",
  };
  for (const [name, wellKnown] of Object.entries(types)) {
    const message: FieldInit = { type: MESSAGE, typeName: `.google.protobuf.${wellKnown}` };
    add({ ...message, name: `one_${name}` });
    add({ ...message, name: `chosen_${name}`, oneofIndex: 0 });
    add({ ...message, name: `many_${name}`, label: REPEATED });
    add({
      ...message,
      name: `group_${name}`,
      options: { features: { messageEncoding: FeatureSet_MessageEncoding.DELIMITED } },
    });
  }
  add({ name: "self", type: MESSAGE, typeName: own });
  add({
    name: "group",
    type: MESSAGE,
    typeName: own,
    options: { features: { messageEncoding: FeatureSet_MessageEncoding.DELIMITED } },
  });
  add({
    name: "groups",
    type: MESSAGE,
    typeName: own,
    label: REPEATED,
    options: { features: { messageEncoding: FeatureSet_MessageEncoding.DELIMITED } },
  });
  for (const kind of ["Open", "Closed"]) {
    add({ name: `one_${kind}`, type: ENUM, typeName: `.everything.${kind}` });
    add({ name: `many_${kind}`, type: ENUM, typeName: `.everything.${kind}`, label: REPEATED });
  }
  const addMap = (name: string, key: ScalarType, value: FieldInit) => {
    const entry = `${name[0]?.toUpperCase()}${name.slice(1)}Entry`;
    entries.push(JSON.stringify([entry, key, value]));
    add({ name, type: MESSAGE, typeName: `${own}.${entry}`, label: REPEATED });
  };
  for (const key of keyTypes) {
    addMap(`map${ScalarType[key].toLowerCase()}`, key, { type: FieldDescriptorProto_Type.DOUBLE });
  }
  addMap("mapself", ScalarType.STRING, { type: MESSAGE, typeName: own });
  addMap("mapvalue", ScalarType.STRING, { type: MESSAGE, typeName: ".google.protobuf.Value" });
  addMap("mapstruct", ScalarType.STRING, { type: MESSAGE, typeName: ".google.protobuf.Struct" });
  addMap("mapenum", ScalarType.STRING, { type: ENUM, typeName: ".everything.Open" });
  add({
    name: "lenient",
    type: FieldDescriptorProto_Type.STRING,
    options: { features: { utf8Validation: FeatureSet_Utf8Validation.NONE } },
  });

  const nestedType = entries.map((text) => {
    const [name, key, value]: [string, number, FieldInit] = JSON.parse(text);
    return {
      name,
      options: { mapEntry: true },
      field: [
        { name: "key", number: 1, label: OPTIONAL, type: key },
        { name: "value", number: 2, label: OPTIONAL, ...value },
      ],
    };
  });
  const value = [
    { name: "ZERO", number: 0 },
    { name: "ONE", number: 1 },
  ];
  const file: FileDescriptorProto = create(FileDescriptorProtoSchema, {
    name: "everything.proto",
    package: "everything",
    syntax: "editions",
    edition: Edition.EDITION_2023,
    dependency: ["google/protobuf/struct.proto", "google/protobuf/wrappers.proto"],
    messageType: [{ name: "Everything", field, nestedType, oneofDecl: [{ name: "choice" }] }],
    enumType: [
      { name: "Open", value: value.map((v) => ({ ...v, name: `OPEN_${v.name}` })) },
      {
        name: "Closed",
        value: value.map((v) => ({ ...v, name: `CLOSED_${v.name}` })),
        options: { features: { enumType: FeatureSet_EnumType.CLOSED } },
      },
    ],
  });
  const set = create(FileDescriptorSetSchema, {
    file: [file_google_protobuf_struct.proto, file_google_protobuf_wrappers.proto, file],
  });
  const registry = createFileRegistry(set);
  const made = registry.getMessage("everything.Everything");
  if (made === undefined) {
    throw new Error("there is no such message");
  }
  return made;
}

export const EverythingSchema: DescMessage = makeEverything();
