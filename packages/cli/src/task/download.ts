import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ArtifactReader } from "@a2a-connect/client/internal";
import { fileUrl } from "@a2a-connect/core";
import { formatMessage, untilAborted } from "@a2a-connect/core/internal";
import { type Artifact, ArtifactSchema, type Task, TaskSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { codeOf, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { describeFileError } from "../files.ts";
import { artifactTitle, renderIdentity, renderState } from "../render/task-text.ts";

export interface DownloadFlags {
  readonly outputDir?: string;
  /** Id or name of the only artifact that is wanted. */
  readonly artifact?: string;
}

/** Saves the artifacts of a task and prints their paths: in `json` the Task with what was saved, its parts as `file:` URLs. */
export async function downloadArtifacts(
  context: CommandContext,
  taskId: string,
  { outputDir = ".", artifact: wanted }: DownloadFlags,
): Promise<void> {
  const { io, output, signal } = context;
  const agent = await context.openAgent();
  const task = await agent.getTask(taskId, { signal, historyLength: 0 });
  const readers = chooseReaders(agent.readArtifacts(task), wanted, task);
  await renderIdentity(output, task.id, task.contextId);
  await renderState(output, task.status);
  const directory = resolve(io.cwd, outputDir);
  const saved: Artifact[] = [];
  for (const reader of readers) {
    signal.throwIfAborted();
    const paths = await untilAborted(reader.save(directory), signal).catch((error: unknown) => {
      throw explainDirectory(error, directory);
    });
    for (const path of paths) await output.field("Saved", path);
    const parts = paths.map((path) => fileUrl(pathToFileURL(path).href));
    saved.push(create(ArtifactSchema, { ...reader.artifact, parts }));
  }
  if (readers.length === 0) await output.note(`task ${task.id} has no artifacts`);
  await output.document(formatMessage(TaskSchema, { ...task, artifacts: saved }));
}

function explainDirectory(error: unknown, directory: string): unknown {
  const code = codeOf(error);
  if (code === "EEXIST") return usageError(`${directory} is a file, not a directory`, outputDirHint, error);
  if (!["ENOTDIR", "EACCES", "EPERM", "EROFS"].includes(String(code))) return error;
  return usageError(`${directory} ${describeFileError(error, "written").problem}`, outputDirHint, error);
}

const outputDirHint = "choose another with --output-dir";

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
