import { methods, type RpcMethod } from "@a2a-connect/core";
import {
  collectSchemas,
  describedFields,
  extensionsHeader,
  fieldSchema,
  type HttpRoute,
  isQueryField,
  isRequiredField,
  type JsonSchemas,
  jsonMediaTypes,
  messageSchema,
  protocolVersion,
  type SchemaPartOptions,
  typeSchema,
  versionHeader,
} from "@a2a-connect/core/internal";
import { BadRequestSchema, ErrorInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import type { DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";

/** Facts about one agent's API that the descriptors do not contain. */
export interface OpenApiOptions {
  /** Name of the API, such as the agent's name. */
  readonly title: string;
  /** Version of the API, such as the agent's version. */
  readonly version: string;
  /** The URL before all routes: that of the card's HTTP+JSON interface, without a trailing slash. */
  readonly serverUrl: string;
  /** What the agent does, in CommonMark. */
  readonly description?: string;
}

/**
 * The OpenAPI 3.1 document of the HTTP+JSON binding, derived from the method table. It has every route of every
 * operation, tenant variants and aliases included.
 */
export function createOpenApi({ title, version, serverUrl, description }: OpenApiOptions): JsonObject {
  const table = Object.values(methods);
  return {
    openapi: "3.1.1",
    info: { title, version, ...(description === undefined ? {} : { description }) },
    servers: [{ url: serverUrl }],
    tags: [...new Set(table.map(tagOf))].map((name) => ({ name })),
    paths: describePaths(table),
    components: {
      schemas: { ...describeSchemas(table), Error: errorSchema },
      parameters: serviceParameters,
      responses: { Error: errorResponse },
    },
  };
}

const schemaOptions: SchemaPartOptions = { refPrefix: "#/components/schemas/" };

function describePaths(table: readonly RpcMethod[]): JsonObject {
  const paths = new Map<string, JsonObject>();
  for (const method of table) {
    for (const route of method.routes) {
      const path = formatPath(method, route);
      const operation = { [route.verb.toLowerCase()]: describeOperation(method, route) };
      paths.set(path, { ...paths.get(path), ...operation });
    }
  }
  return Object.fromEntries(paths);
}

function describeSchemas(table: readonly RpcMethod[]): JsonSchemas {
  const messages = table.flatMap(({ desc }) => [desc.input, desc.output]);
  return collectSchemas([...messages, ...errorDetails], schemaOptions);
}

function describeOperation(method: RpcMethod, route: HttpRoute): JsonObject {
  const inPath = (field: DescField) => route.variables.includes(field.localName);
  const fields = describedFields(method.desc.input, schemaOptions);
  const query =
    route.body === undefined ? fields.filter((field) => !inPath(field) && isQueryField(field)) : [];
  return {
    operationId: operationId(method, route),
    tags: [tagOf(method)],
    parameters: [
      ...Object.keys(serviceParameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
      ...fields.filter(inPath).map((field) => describeParameter(field, "path")),
      ...query.map((field) => describeParameter(field, "query")),
    ],
    ...(route.body === undefined ? {} : { requestBody: describeBody(method.desc.input, inPath) }),
    responses: {
      200: method.streaming ? describeStream(method.desc.output) : describeAnswer(method.desc.output),
      "4XX": { $ref: "#/components/responses/Error" },
      "5XX": { $ref: "#/components/responses/Error" },
    },
  };
}

/** The name of the RPC. For its other routes the difference is added: another verb, or more variables in the path. */
function operationId({ name, routes }: RpcMethod, { verb, variables }: HttpRoute): string {
  const [first] = routes;
  const more = variables.filter((variable) => first?.variables.includes(variable) !== true);
  const differences = [
    ...(verb === first?.verb ? [] : ["By", verb.toLowerCase()]),
    ...(more.length > 0 ? ["With"] : []),
    ...more,
  ];
  return name + differences.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** The subject of an operation: the last fixed segment of its path, such as `tasks`. */
function tagOf({ name, routes }: RpcMethod): string {
  return routes[0]?.segments.findLast((segment) => segment !== undefined) ?? name;
}

/** `/{tenant}/tasks/{id}:cancel`: the template without patterns, with JSON's names. */
function formatPath({ desc }: RpcMethod, { template }: HttpRoute): string {
  const jsonNames = new Map(desc.input.fields.map(({ name, jsonName }) => [name, jsonName]));
  return template.replace(/\{(\w+)(?:=\*)?\}/g, (_, name: string) => `{${jsonNames.get(name)}}`);
}

function describeParameter(field: DescField, place: "path" | "query"): JsonObject {
  const schema = fieldSchema(field, schemaOptions);
  return {
    name: field.jsonName,
    in: place,
    required: place === "path" || isRequiredField(field),
    schema: place === "path" ? { ...schema, minLength: 1 } : schema,
  };
}

/**
 * A body carries the whole request; it may contain fields of the path if both agree (requirement K-2). When such a
 * field is REQUIRED, the document describes the body without the path's fields, since callers usually leave them out.
 * Then the body may be empty.
 */
function describeBody(input: DescMessage, inPath: (field: DescField) => boolean): JsonObject {
  const carried = input.fields.some((field) => inPath(field) && isRequiredField(field));
  return {
    required: input.fields.some((field) => isRequiredField(field) && !inPath(field)),
    content: jsonContent(
      carried ? messageSchema(input, schemaOptions, inPath) : typeSchema(input, schemaOptions),
    ),
  };
}

function describeAnswer(output: DescMessage): JsonObject {
  return { description: output.name, content: jsonContent(typeSchema(output, schemaOptions)) };
}

function describeStream(output: DescMessage): JsonObject {
  return {
    description: `Server-sent events: the data of each is one ${output.name}. A failure is a last event with the body of an error.`,
    content: { "text/event-stream": { schema: typeSchema(output, schemaOptions) } },
  };
}

function jsonContent(schema: JsonObject): JsonObject {
  return Object.fromEntries(jsonMediaTypes.map((mediaType) => [mediaType, { schema }]));
}

/** Service parameters of every operation (spec §3.2.6), as components. */
const serviceParameters: Readonly<Record<string, JsonObject>> & JsonObject = {
  [versionHeader]: {
    name: versionHeader,
    in: "header",
    required: true,
    description: "Version of the protocol, `Major.Minor`. A query parameter of the same name does as well.",
    schema: { type: "string", pattern: "^[0-9]+\\.[0-9]+", examples: [protocolVersion] },
  },
  [extensionsHeader]: {
    name: extensionsHeader,
    in: "header",
    description: "URIs of the extensions to activate.",
    schema: { type: "array", items: { type: "string" } },
  },
};

/** Details of our errors, as JSON by their `@type` (requirements E-2, E-3). */
const errorDetails: readonly DescMessage[] = [ErrorInfoSchema, BadRequestSchema];

/** The body of an error (requirement E.3). Other servers may add details of other types. */
const errorSchema: JsonObject = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "integer" },
        status: { type: "string" },
        message: { type: "string" },
        details: {
          type: "array",
          items: {
            type: "object",
            properties: { "@type": { type: "string" } },
            required: ["@type"],
            allOf: errorDetails.map((desc) => ({
              if: { properties: { "@type": { const: `type.googleapis.com/${desc.typeName}` } } },
              // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema, in data that no code awaits
              then: typeSchema(desc, schemaOptions),
            })),
          },
        },
      },
      required: ["code", "status", "message", "details"],
    },
  },
  required: ["error"],
};

const errorResponse: JsonObject = {
  description: "What went wrong: the HTTP status, the name of the gRPC code, a sentence and details.",
  content: jsonContent({ $ref: `${schemaOptions.refPrefix}Error` }),
};
