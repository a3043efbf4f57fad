import type { StandardSchemaV1 } from "@standard-schema/spec";
import { UntrustedOutputError } from "../errors.ts";

/**
 * The result of a schema for a value.
 *
 * @param what begins the sentence about the value
 * @throws UntrustedOutputError with the schema's issues when it does not fit
 */
export async function validate<Schema extends StandardSchemaV1>(
  schema: Schema,
  value: unknown,
  what: string,
): Promise<StandardSchemaV1.InferOutput<Schema>> {
  const result = await schema["~standard"].validate(value);
  if (result.issues !== undefined) {
    const { issues } = result;
    const listed = issues.slice(0, maxListed).map(describeIssue).join("; ");
    const more = issues.length > maxListed ? `; and ${issues.length - maxListed} more` : "";
    throw new UntrustedOutputError(`${what} does not fit the schema: ${listed}${more}`, { issues });
  }
  return result.value;
}

/** How many issues a message lists; the error has them all. */
const maxListed = 5;

function describeIssue({ message, path = [] }: StandardSchemaV1.Issue): string {
  const where = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return where === "" ? message : `${where}: ${message}`;
}
