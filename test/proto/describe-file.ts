import { http } from "@a2a-connect/proto/google/api/annotations";
import { method_signature } from "@a2a-connect/proto/google/api/client";
import {
  FieldBehavior,
  FieldBehaviorSchema,
  field_behavior,
} from "@a2a-connect/proto/google/api/field_behavior";
import type { HttpRule } from "@a2a-connect/proto/google/api/http";
import type { DescEnum, DescField, DescFile, DescMessage, DescMethod } from "@bufbuild/protobuf";
import { getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type {
  EnumFacts,
  FieldFacts,
  FileFacts,
  HttpRuleFacts,
  MessageFacts,
  MethodFacts,
} from "./wire-facts.ts";

/** Reads a file's descriptor back into the shape of the wire facts. */
export function describeFile(file: DescFile): FileFacts {
  const { options } = file.proto;
  return {
    package: file.proto.package,
    syntax: file.proto.syntax,
    imports: [...file.proto.dependency],
    options: {
      goPackage: options?.goPackage ?? "",
      javaPackage: options?.javaPackage ?? "",
      javaOuterClassname: options?.javaOuterClassname ?? "",
      javaMultipleFiles: options?.javaMultipleFiles ?? false,
      csharpNamespace: options?.csharpNamespace ?? "",
    },
    services: Object.fromEntries(
      file.services.map((service) => [
        service.name,
        {
          fullName: service.typeName,
          methods: Object.fromEntries(service.methods.map((method) => [method.name, describeMethod(method)])),
        },
      ]),
    ),
    messages: Object.fromEntries(
      file.messages
        .flatMap(withNested)
        .map((message) => [localName(file, message), describeMessage(message)]),
    ),
    enums: Object.fromEntries(
      [...file.enums, ...file.messages.flatMap(withNested).flatMap((message) => message.nestedEnums)].map(
        (enumeration) => [localName(file, enumeration), describeEnum(enumeration)],
      ),
    ),
  };
}

/** Reads a message's descriptor; `oneofs` only when there are any. */
export function describeMessage(message: DescMessage): MessageFacts {
  const oneofs = message.oneofs.map((oneof) => ({
    name: oneof.name,
    fields: oneof.fields.map((field) => field.name),
  }));
  return {
    fullName: message.typeName,
    fields: message.fields.map(describeField),
    ...(oneofs.length > 0 && { oneofs }),
  };
}

function withNested(message: DescMessage): DescMessage[] {
  return [message, ...message.nestedMessages.flatMap(withNested)];
}

function localName(file: DescFile, type: DescMessage | DescEnum): string {
  return type.typeName.slice(file.proto.package.length + 1);
}

function describeField(field: DescField): FieldFacts {
  const behavior = getOption(field, field_behavior);
  return {
    name: field.name,
    number: field.number,
    jsonName: field.jsonName,
    type: typeName(field),
    label: label(field),
    oneof: field.oneof?.name ?? null,
    explicitPresence: field.presence === FeatureSet_FieldPresence.EXPLICIT,
    required: behavior.includes(FieldBehavior.REQUIRED),
    ...(behavior.length > 0 && { fieldBehavior: behavior.map(behaviorName) }),
    ...(field.deprecated && { deprecated: true }),
    ...(field.fieldKind === "map" && { mapKey: scalarName(field.mapKey), mapValue: elementType(field) }),
  };
}

function label(field: DescField): FieldFacts["label"] {
  if (field.fieldKind === "map") return "map";
  if (field.fieldKind === "list") return "repeated";
  return field.proto.proto3Optional ? "optional" : "singular";
}

function typeName(field: DescField): string {
  return field.fieldKind === "map"
    ? `map<${scalarName(field.mapKey)}, ${elementType(field)}>`
    : elementType(field);
}

function elementType(field: DescField): string {
  if (field.message) return field.message.typeName;
  if (field.enum) return field.enum.typeName;
  return scalarName(field.scalar);
}

function scalarName(scalar: ScalarType): string {
  return ScalarType[scalar].toLowerCase();
}

function behaviorName(behavior: number): string {
  return FieldBehaviorSchema.values.find(({ number }) => number === behavior)?.name ?? String(behavior);
}

function describeEnum(enumeration: DescEnum): EnumFacts {
  return {
    fullName: enumeration.typeName,
    values: enumeration.values.map(({ name, number }) => ({ name, number })),
  };
}

function describeMethod(method: DescMethod): MethodFacts {
  const rule = getOption(method, http);
  return {
    grpcPath: `/${method.parent.typeName}/${method.name}`,
    jsonRpcMethod: method.name,
    request: method.input.typeName,
    response: method.output.typeName,
    clientStreaming: method.proto.clientStreaming,
    serverStreaming: method.proto.serverStreaming,
    http: hasOption(method, http) ? [rule, ...rule.additionalBindings].map(describeRule) : [],
    methodSignature: [...getOption(method, method_signature)],
  };
}

function describeRule(rule: HttpRule): HttpRuleFacts {
  const { case: verb, value } = rule.pattern;
  if (verb === undefined || verb === "custom") throw new Error(`no plain verb in an HTTP rule: ${verb}`);
  return { verb: verb.toUpperCase(), path: value, body: rule.body || null };
}
