import type { JsonObject } from "@bufbuild/protobuf";
import { Ajv2020 } from "ajv/dist/2020.js";

/** Tells what is wrong with a value, as paths and sentences; empty when it is valid. */
export type SchemaCheck = (value: unknown) => string[];

/** Members of an OpenAPI document, which are no keywords of JSON Schema. */
const openApiMembers = ["openapi", "info", "servers", "tags", "paths", "components"];

/**
 * Compiles the schemas of a document: a JSON Schema or an OpenAPI 3.1 document. Strict: unknown keywords and formats
 * and broken references throw.
 *
 * @returns the check of the schema at a JSON pointer in the document, `""` for the document itself
 */
export function schemaChecks(document: JsonObject): (pointer: string) => SchemaCheck {
  // A oneof's `required` stands in a schema of its own, beside the properties that it names.
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
  ajv.addVocabulary(openApiMembers);
  ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/);
  ajv.addFormat("int32", { type: "number", validate: Number.isInteger });
  ajv.addSchema(document, "document");
  return (pointer) => {
    const validate = ajv.compile({ $ref: `document#${pointer}` });
    return (value) => {
      validate(value);
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    };
  };
}
