import { jsonSchemaOf } from "@a2a-connect/core/internal";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { parseJson } from "../json.ts";
import { findOlderCard } from "./older-card.ts";

/**
 * What is wrong with the text of a card by the schema of A2A 1.0, each problem with its path. Members that the schema does
 * not have count as problems here, as they do for the A2A compatibility kit (requirement L-7): they are mostly typos, or
 * fields of an older version.
 */
export function findCardProblems(text: string): readonly string[] {
  const card = parseJson(text);
  if (card === undefined) return ["the card is not JSON"];
  const problems = validate(card).filter(isCause).map(describe);
  if (problems.length === 0) return [];
  return [...new Set([...describeOlder(card), ...problems])];
}

function validate(card: unknown): readonly ErrorObject[] {
  const check = new Ajv2020({ allErrors: true, strict: false, validateFormats: false }).compile(
    closed(jsonSchemaOf(AgentCardSchema)),
  );
  return check(card) ? [] : (check.errors ?? []);
}

/** Why there are so many problems, before the problems. */
function describeOlder(card: unknown): string[] {
  const older = findOlderCard(card);
  if (older === undefined) return [];
  const version = older.version === "" ? "" : ` (${older.version})`;
  return [`the card is of an older version of A2A${version}: ${older.members.join(", ")}`];
}

/** The schema with no members allowed but those it names; free-form objects name none. */
function closed(schema: JsonValue): JsonObject {
  return close(schema) as JsonObject; // an object stays one
}

function close(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(close);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, close(value)]));
  const isMessage = schema["type"] === "object" && typeof schema["properties"] === "object";
  return isMessage && members["additionalProperties"] === undefined
    ? { ...members, additionalProperties: false }
    : members;
}

/** `oneOf` says that none of its branches fits, after each has said so itself. */
function isCause({ keyword, schemaPath }: ErrorObject): boolean {
  return keyword === "oneOf" || !schemaPath.includes("/oneOf/");
}

function describe({ keyword, instancePath, params, message }: ErrorObject): string {
  const path = formatPath(instancePath);
  switch (keyword) {
    case "required":
      return `${join(path, String(params["missingProperty"]))} is missing`;
    case "additionalProperties":
      return `${join(path, String(params["additionalProperty"]))} is not a field of A2A 1.0`;
    case "oneOf":
      return `${path || "the card"} must have exactly one of its kinds`;
    case "enum":
      return `${path} must be one of ${[params["allowedValues"]].flat().join(", ")}`;
    case "type": {
      const type = String(params["type"]);
      return `${path || "the card"} must be ${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
    }
    default:
      return `${path || "the card"} ${message ?? "is wrong"}`;
  }
}

/** `/skills/0/id` is `skills[0].id`. */
function formatPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, segment) => (/^\d+$/.test(segment) ? `${path}[${segment}]` : join(path, segment)), "");
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
