import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { type FieldViolation, invalidParams } from "./errors.ts";
import { fitsSegment, type HttpRoute } from "./http-rule.ts";
import { formatMessage } from "./json/format-json.ts";
import { isObject } from "./json/json-value.ts";
import { type ParseMessageOptions, parseMessage } from "./json/parse-json.ts";
import type { RpcMethod } from "./methods.ts";
import { isReservedTenant } from "./route-table.ts";

/** The parts of an HTTP+JSON request that carry a message. */
export interface HttpRequestParts {
  /** HTTP method in upper case. */
  readonly verb: string;
  /** Percent-encoded path below the interface's URL, with a leading slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Undefined for a request without a body. */
  readonly body?: JsonValue;
}

/**
 * Builds the request message of an HTTP+JSON call from path variables, query parameters and body (requirements K-2,
 * K-5, K-6). It knows both spellings of a parameter and ignores unknown parameters. A field may be given several times
 * as long as the values agree.
 *
 * The query is read even when there is a body: if it named a tenant and we ignored that, the call would go to the wrong
 * tenant.
 *
 * @param variables of the path, by local field name
 * @param body parsed JSON, or undefined when there was none; ignored by routes without a body
 * @throws ConnectError InvalidArgument that names the wrong, repeated or conflicting fields
 */
export function bindHttpRequest(
  method: RpcMethod,
  route: HttpRoute,
  variables: Readonly<Record<string, string>>,
  query: URLSearchParams,
  body: unknown,
  options?: ParseMessageOptions,
): Message {
  const desc: DescMessage = method.desc.input;
  const content = route.body === undefined || body === undefined ? {} : body;
  if (!isObject(content)) {
    throw invalidParams({ field: "", description: "the body must be a JSON object" });
  }
  const violations: FieldViolation[] = [];
  let copy: Record<string, unknown> | undefined;
  for (const field of desc.fields) {
    const values = [...readVariable(field, variables), ...readQuery(field, query, violations)];
    if (values.length === 0) continue;
    copy ??= { ...content }; // once: a body may have 100,000 members
    mergeField(copy, field, values, violations);
  }
  if (violations.length > 0) {
    throw invalidParams(violations);
  }
  return parseMessage(desc, copy ?? content, options);
}

/**
 * The inverse of {@link bindHttpRequest}, for clients. The tenant goes into the path (requirement P-3). Fields that are
 * not in the path go into the body, or into the query of a route without a body.
 *
 * @param verb for methods with several (SubscribeToTask: POST, then GET; requirement K-1); default POST if there is one
 * @throws ConnectError InvalidArgument when a field of the path is empty or cannot be in a URL, or when a query cannot
 *   carry a field
 */
export function httpRequestParts(method: RpcMethod, message: Message, verb?: string): HttpRequestParts {
  const desc: DescMessage = method.desc.input;
  const json = formatMessage(desc, message) as JsonObject; // a request message is no well-known type
  const route = chooseRoute(method.routes, json, verb);
  const variables: Record<string, string> = {};
  for (const { localName, jsonName } of desc.fields) {
    if (route.variables.includes(localName)) {
      variables[localName] = String(json[jsonName] ?? "");
      delete json[jsonName];
    }
  }
  const path = route.expand(variables);
  if (path === undefined) {
    throw invalidParams(unfitVariables(desc, route, variables));
  }
  return route.body === "*"
    ? { verb: route.verb, path, query: new URLSearchParams(), body: json }
    : { verb: route.verb, path, query: formatQuery(desc, json) };
}

function readVariable(field: DescField, variables: Readonly<Record<string, string>>): JsonValue[] {
  const value = variables[field.localName];
  return value === undefined ? [] : [value];
}

/** The value of a field in the query, as JSON, or undefined. */
function readQuery(field: DescField, query: URLSearchParams, violations: FieldViolation[]): JsonValue[] {
  const names = new Set([field.jsonName, field.name]);
  const values = [...names].flatMap((name) => query.getAll(name));
  const [first] = values;
  if (first === undefined) {
    return [];
  }
  if (!isQueryField(field)) {
    violations.push({ field: field.jsonName, description: "cannot be given in the query" });
    return [];
  }
  if (field.fieldKind === "list") {
    return [values.flatMap((value) => value.split(",")).map((value) => toJsonValue(field, value))];
  }
  if (values.some((value) => value !== first)) {
    violations.push({ field: field.jsonName, description: "is given twice with different values" });
  }
  return [toJsonValue(field, first)];
}

/** Whether a query can carry a field: scalars, enums, timestamps, and lists of these (requirement K-5). */
export function isQueryField(field: DescField): boolean {
  return field.fieldKind !== "map" && (field.message?.typeName ?? timestamp) === timestamp;
}

const timestamp = "google.protobuf.Timestamp";

/** Text of a query as the JSON that ProtoJSON expects. Text that does not fit stays text, and the parser refuses it. */
function toJsonValue(field: DescField, text: string): JsonValue {
  if (field.scalar === ScalarType.BOOL && (text === "true" || text === "false")) {
    return text === "true";
  }
  return field.enum !== undefined && /^-?\d{1,10}$/.test(text) ? Number(text) : text;
}

/** Adds the values from path and query to the JSON of the body, unless they disagree with it (K-2). */
function mergeField(
  json: Record<string, unknown>,
  field: DescField,
  values: readonly JsonValue[],
  violations: FieldViolation[],
): void {
  for (const value of values) {
    const present = json[field.jsonName] ?? json[field.name] ?? undefined;
    if (present !== undefined && !isSame(present, value)) {
      violations.push({
        field: field.jsonName,
        description: "has different values in the path, the query or the body",
      });
      return;
    }
    if (present === undefined) {
      delete json[field.name]; // a null in the other spelling
      json[field.jsonName] = value;
    }
  }
}

/** Compares as text: a number of the body is a string in the path and the query. */
function isSame(present: unknown, value: JsonValue): boolean {
  if (Array.isArray(value)) {
    return (
      Array.isArray(present) &&
      present.length === value.length &&
      value.every((item, index) => isSame(present[index], item))
    );
  }
  // An object must not be turned into text: `{"toString": 1}` throws.
  return typeof present !== "object" && String(present) === String(value);
}

/** The route variant with a tenant, when the message has a tenant that a path can carry, for the wanted verb. */
function chooseRoute(routes: readonly HttpRoute[], json: JsonObject, wanted: string | undefined): HttpRoute {
  const tenant = json["tenant"] ?? "";
  const inPath = typeof tenant === "string" && tenant !== "" && !isReservedTenant(tenant);
  const verbs = routes.map(({ verb }) => verb);
  const verb = wanted ?? (verbs.includes("POST") ? "POST" : verbs[0]);
  const route = routes.find(
    (candidate) => candidate.verb === verb && candidate.variables.includes("tenant") === inPath,
  );
  if (route === undefined) {
    throw new Error(`there is no ${verb} route`);
  }
  return route;
}

function unfitVariables(
  desc: DescMessage,
  route: HttpRoute,
  variables: Readonly<Record<string, string>>,
): FieldViolation[] {
  return desc.fields
    .filter(({ localName }) => route.variables.includes(localName) && !fitsSegment(variables[localName]))
    .map(({ jsonName }) => ({
      field: jsonName,
      description: "must be text that a URL path can carry, and not empty",
    }));
}

function formatQuery(desc: DescMessage, json: JsonObject): URLSearchParams {
  const query = new URLSearchParams();
  for (const field of desc.fields) {
    const value = json[field.jsonName];
    if (value === undefined) {
      continue;
    }
    if (!isQueryField(field)) {
      throw invalidParams({ field: field.jsonName, description: "cannot be given in the query" });
    }
    for (const item of Array.isArray(value) ? value : [value]) {
      query.append(field.jsonName, String(item));
    }
  }
  return query;
}
