import { signal, useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { explain, type Failure } from "../session/failure.ts";
import { FailureNotice } from "../ui/notice.tsx";
import { OpenLogButton, openedFile } from "./open-log.tsx";
import { readTaskLog, type TaskLog } from "./task-log.ts";
import { TaskView } from "./task-view.tsx";

/** What was read of a file. */
interface Opened {
  readonly file: File;
  readonly log?: TaskLog;
  readonly problem?: Failure;
}

const opened = signal<Opened | undefined>(undefined);

async function read(file: File): Promise<void> {
  opened.value = { file };
  const result = await file
    .text()
    .then(readTaskLog)
    .then(
      (log) => ({ file, log }),
      (error: unknown) => ({ file, problem: explain(error) }),
    );
  if (openedFile.value === file) opened.value = result;
}

/** The log of the file that was opened last. */
export function OpenedLogView(): JSX.Element {
  useSignalEffect(() => {
    const file = openedFile.value;
    if (file !== undefined && opened.peek()?.file !== file) void read(file);
  });
  const { file, log, problem } = opened.value ?? {};
  if (log !== undefined) return <TaskView key={file?.name ?? ""} log={log} agent={undefined} />;
  if (file !== undefined && problem === undefined)
    return <div class="loading" role="status" aria-label="Reading the log" />;
  return (
    <div class="page">
      <div class="column">
        {problem === undefined ? null : <FailureNotice failure={problem} />}
        <section class="panel empty">
          <p>Open a file that was exported here, to look at a task without its agent.</p>
          <OpenLogButton />
        </section>
      </div>
    </div>
  );
}
