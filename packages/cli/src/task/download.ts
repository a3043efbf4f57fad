import { pathToFileURL } from "node:url";
import type { ArtifactReader } from "@a2a-connect/client/internal";
import { fileUrl } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import { type Artifact, ArtifactSchema, type Task, TaskSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { artifactTitle, renderIdentity, renderState } from "../render/task-text.ts";
import { saveArtifacts } from "./save-artifacts.ts";

export interface DownloadFlags {
  /** Default: a new directory in the working directory. */
  readonly outputDir?: string;
  /** Id or name of the only artifact that is wanted. */
  readonly artifact?: string;
}

/** Saves the artifacts of a task and prints their paths: in `json` the Task with what was saved, its parts as `file:` URLs. */
export async function downloadArtifacts(
  context: CommandContext,
  taskId: string,
  { outputDir, artifact: wanted }: DownloadFlags,
): Promise<void> {
  const { io, output, signal } = context;
  const agent = await context.openAgent();
  const task = await agent.getTask(taskId, { signal, historyLength: 0 });
  const readers = chooseReaders(agent.readArtifacts(task), wanted, task);
  await renderIdentity(output, task.id, task.contextId);
  await renderState(output, task.status);
  const place = { cwd: io.cwd, taskId: task.id, directory: outputDir, signal };
  const saved: Artifact[] = [];
  for await (const [reader, paths] of saveArtifacts(readers, place)) {
    for (const path of paths) await output.field("Saved", path);
    const parts = paths.map((path) => fileUrl(pathToFileURL(path).href));
    saved.push(create(ArtifactSchema, { ...reader.artifact, parts }));
  }
  if (readers.length === 0) await output.note(`task ${task.id} has no artifacts`);
  await output.document(formatMessage(TaskSchema, { ...task, artifacts: saved }));
}

function chooseReaders(
  readers: readonly ArtifactReader[],
  wanted: string | undefined,
  task: Task,
): readonly ArtifactReader[] {
  if (wanted === undefined) return readers;
  const reader = readers.find(({ id }) => id === wanted) ?? readers.find(({ name }) => name === wanted);
  if (reader === undefined) {
    const known = readers.map((each) => artifactTitle(each.artifact));
    throw usageError(
      `task ${task.id} has no artifact ${wanted}`,
      known.length === 0 ? "it has none at all" : `it has ${known.join(", ")}`,
    );
  }
  return [reader];
}
