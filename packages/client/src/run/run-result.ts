import { partText } from "@a2a-connect/core";
import type { Message, Task } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type ArtifactReader, readJson } from "../content/artifact-reader.ts";
import { validate } from "../content/validate.ts";
import { InvalidResponseError } from "../errors.ts";
import type { RunResult } from "./run-types.ts";

/** The result of a COMPLETED task, or of a message that was answered at once. */
export function createRunResult(
  task: Task | undefined,
  message: Message | undefined,
  artifacts: readonly ArtifactReader[],
): RunResult {
  const source =
    artifacts.find(({ parts }) => parts.some(({ content }) => content.case === "data")) ?? artifacts[0];
  function json(): JsonValue;
  function json<Schema extends StandardSchemaV1>(
    schema: Schema,
  ): Promise<StandardSchemaV1.InferOutput<Schema>>;
  function json(schema?: StandardSchemaV1): JsonValue | Promise<unknown> {
    if (source !== undefined) return schema === undefined ? source.json() : source.json(schema);
    const what = "the agent's answer";
    const read = () => readJson({ parts: message?.parts ?? [] }, what);
    return schema === undefined ? read() : Promise.resolve().then(() => validate(schema, read(), what));
  }
  return {
    task,
    json,
    message,
    artifacts,
    artifact(idOrName) {
      const found =
        artifacts.find(({ id }) => id === idOrName) ?? artifacts.find(({ name }) => name === idOrName);
      if (found === undefined) {
        const known = artifacts.map(({ id }) => id).join(", ");
        throw new InvalidResponseError(`The result has no artifact "${idOrName}".`, {
          hint: known === "" ? "It has no artifacts at all." : `It has: ${known}.`,
        });
      }
      return found;
    },
    text: () =>
      artifacts.length > 0
        ? artifacts.map((artifact) => artifact.text()).join("\n")
        : message === undefined
          ? ""
          : partText(message),
  };
}
