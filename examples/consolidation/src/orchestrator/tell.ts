import { partText, readLifecycleReport } from "@a2a-connect/core";
import { visibleText } from "@a2a-connect/node/client";
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-connect/proto";

/** Takes a line for whoever watches. */
export type Tell = (line: string) => void;

/** "38%     20-chloe-labo: 0 found"; nothing for a status without progress. */
export function tellProgress({ status }: TaskStatusUpdateEvent, tell: Tell): void {
  const { message } = status ?? {};
  const { progress } = readLifecycleReport(message?.metadata);
  if (message !== undefined && typeof progress === "number") {
    tell(`${Math.round(progress * 100)}%`.padEnd(8) + visibleText(partText(message)));
  }
}

/** "got     report" for an artifact that is complete. */
export function tellArtifact({ artifact, lastChunk }: TaskArtifactUpdateEvent, tell: Tell): void {
  if (artifact !== undefined && lastChunk) {
    tell(`got     ${visibleText(artifact.artifactId)}`);
  }
}
