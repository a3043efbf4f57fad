import type { AddCommand } from "../command.ts";
import { addTaskCancel } from "./task-cancel.ts";
import { addTaskDownload } from "./task-download.ts";
import { addTaskGet } from "./task-get.ts";
import { addTaskHistory } from "./task-history.ts";
import { addTaskList } from "./task-list.ts";
import { addTaskPushConfig } from "./task-push-config.ts";
import { addTaskSubscribe } from "./task-subscribe.ts";

/** `a2a task …`: what acts on tasks that are there. */
export const addTask: AddCommand = (program, host) => {
  const task = program.command("task").description("Look at tasks, follow them, cancel them");
  for (const add of [
    addTaskGet,
    addTaskList,
    addTaskSubscribe,
    addTaskCancel,
    addTaskHistory,
    addTaskDownload,
    addTaskPushConfig,
  ]) {
    add(task, host);
  }
};
