import {
  A2AService,
  AgentExtensionSchema,
  GetTaskRequestSchema,
  OAuthFlowsSchema,
  PartSchema,
  SecurityRequirementSchema,
  TaskStatusSchema,
} from "@a2a-connect/proto";
import { StatusSchema } from "@a2a-connect/proto/google/rpc/status";
import { EmptySchema, StructSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { collectSchemas, fieldSchema, jsonSchemaOf, messageSchema, typeSchema } from "./json-schema.ts";

// That the schemas accept exactly what lacks nothing is in test/openapi, which has a validator.

describe("the schema of a message", () => {
  it("is a document with a definition of each message and enum in it, by name", () => {
    expect(jsonSchemaOf(SecurityRequirementSchema)).toStrictEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $ref: "#/$defs/SecurityRequirement",
      $defs: {
        SecurityRequirement: {
          type: "object",
          properties: { schemes: { type: "object", additionalProperties: { $ref: "#/$defs/StringList" } } },
        },
        StringList: { type: "object", properties: { list: { type: "array", items: { type: "string" } } } },
      },
    });
  });

  it("asks for exactly one member of a oneof (H-9)", () => {
    expect(messageSchema(PartSchema)["oneOf"]).toStrictEqual(
      ["text", "raw", "url", "data"].map((name) => ({ required: [name] })),
    );
  });

  it("refers to others where it is told to", () => {
    expect(messageSchema(TaskStatusSchema, { refPrefix: "#/here/" })).toMatchObject({
      properties: { message: { $ref: "#/here/Message" } },
      required: ["state"],
    });
  });

  it("leaves out what it is told to", () => {
    const { properties, required } = messageSchema(GetTaskRequestSchema, {}, ({ name }) => name === "id");
    expect(Object.keys(properties as object)).toStrictEqual(["tenant", "historyLength"]);
    expect(required).toBeUndefined();
  });

  it("has the fields of the 1.1 draft only when asked", () => {
    expect(messageSchema(GetTaskRequestSchema)["properties"]).not.toHaveProperty("currentGeneration");
    expect(messageSchema(GetTaskRequestSchema, { draft: true })["properties"]).toHaveProperty(
      "currentGeneration",
      {
        type: "string",
        pattern: "^-?[0-9]{1,19}$",
      },
    );
  });

  it("is refused when two types would share a name", () => {
    expect(() => collectSchemas([StatusSchema, { ...TaskStatusSchema, name: "Status" }])).toThrow(
      "google.rpc.Status and lf.a2a.v1.TaskStatus",
    );
  });
});

describe("the schema of a field", () => {
  for (const [title, field, want] of [
    ["a Struct is any object", AgentExtensionSchema.field.params, { type: "object" }],
    ["a Value is any JSON", PartSchema.field.data, {}],
    [
      "a timestamp is a date and time",
      TaskStatusSchema.field.timestamp,
      { type: "string", format: "date-time" },
    ],
    [
      "bytes are base64 (H-5)",
      PartSchema.field.raw,
      { type: "string", contentEncoding: "base64", pattern: "^[A-Za-z0-9+/]*={0,2}$" },
    ],
    [
      "a REQUIRED enum is one of its names, not its zero",
      TaskStatusSchema.field.state,
      { $ref: "#/$defs/TaskState", not: { const: "TASK_STATE_UNSPECIFIED" } },
    ],
    ["a REQUIRED string is not empty", GetTaskRequestSchema.field.id, { type: "string", minLength: 1 }],
    [
      "a deprecated field says so",
      OAuthFlowsSchema.field.implicit,
      { $ref: "#/$defs/ImplicitOAuthFlow", deprecated: true },
    ],
  ] as const) {
    it(`says: ${title}`, () => expect(fieldSchema(field)).toStrictEqual(want));
  }

  it("has no definition of a well-known type", () => {
    expect(typeSchema(EmptySchema)).toStrictEqual({ type: "object" });
    expect(collectSchemas([EmptySchema, StructSchema])).toStrictEqual({});
  });
});

it("bundles what every operation takes and gives", () => {
  const schemas = collectSchemas(A2AService.methods.flatMap(({ input, output }) => [input, output]));
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining(["AgentCard", "ListTasksRequest", "StreamResponse", "TaskState"]),
  );
});
