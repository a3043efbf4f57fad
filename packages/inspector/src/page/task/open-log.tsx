import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { linkTo, route } from "../route.ts";
import { explain, type Failure } from "../session/failure.ts";
import { Icon } from "../ui/icon.tsx";
import { FailureNotice } from "../ui/notice.tsx";
import { readTaskLog, type TaskLog } from "./task-log.ts";
import { TaskView } from "./task-view.tsx";

const opened = signal<TaskLog | undefined>(undefined);
const problem = signal<Failure | undefined>(undefined);

/** Opens a file with a task's log; no server is asked for anything. */
export function OpenLogButton(): JSX.Element {
  return (
    <label class="button small quiet">
      <Icon name="task" />
      Open a log
      <input
        class="hidden"
        type="file"
        accept=".jsonl"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (file !== undefined) void open(file);
        }}
      />
    </label>
  );
}

async function open(file: File): Promise<void> {
  try {
    opened.value = await readTaskLog(await file.text());
    problem.value = undefined;
  } catch (error) {
    opened.value = undefined;
    problem.value = explain(error);
  }
  location.hash = linkTo("task");
}

/** The log of the file that was opened last. */
export function OpenedLogView(): JSX.Element {
  const log = opened.value;
  if (log !== undefined) return <TaskView key={route.value.view} log={log} agent={undefined} />;
  return (
    <div class="page">
      <div class="column">
        {problem.value === undefined ? null : <FailureNotice failure={problem.value} />}
        <section class="panel empty">
          <p>Open a file that was exported here, to look at a task without its agent.</p>
          <OpenLogButton />
        </section>
      </div>
    </div>
  );
}
