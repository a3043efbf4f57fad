import { partText } from "@a2a-connect/core";
import type { Message, Task } from "@a2a-connect/proto";
import type { ArtifactReader } from "../content/artifact-reader.ts";
import { InvalidResponseError } from "../errors.ts";
import type { RunResult } from "./run-types.ts";

/** The result of a COMPLETED task, or of a message that was answered at once. */
export function createRunResult(
  task: Task | undefined,
  message: Message | undefined,
  artifacts: readonly ArtifactReader[],
): RunResult {
  return {
    task,
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
