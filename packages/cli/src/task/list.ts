import type { AgentClient, ListTasksOptions } from "@a2a-connect/client";
import { createPages, type TaskPage } from "@a2a-connect/client/internal";
import { formatTaskState, methods, partText } from "@a2a-connect/core";
import { formatMessage, formatResponse, stateOf } from "@a2a-connect/core/internal";
import {
  ListTasksRequestSchema,
  ListTasksResponseSchema,
  type Task,
  TaskSchema,
  type TaskState,
  TaskStateSchema,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { usageError } from "../cli-error.ts";
import { commandLine } from "../commands-to-copy.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { type Output, toLine } from "../output.ts";
import { renderIdentity, renderState, renderTask, stateStyle } from "../render/task-text.ts";
import { parseTime } from "../settings/values.ts";
import { Listing } from "./listing.ts";

interface ListTasksFlags {
  readonly status?: string;
  readonly since?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
  /** Tasks over all pages; a page is never cut, so that its token leads on without a loss. */
  readonly limit?: number;
  readonly all?: boolean;
  readonly includeArtifacts?: boolean;
}

/** Largest page that may be asked for (spec §3.1.4). */
const largestPage = 100;

const tooLongHint = "--stream prints each task on a line of its own as it comes, and --limit N lists fewer";

/** Prints one page of tasks, or as many as were asked for: in `json` one ListTasksResponse, or a Task a line under `--stream`. */
export async function listTasks(context: CommandContext, flags: ListTasksFlags): Promise<void> {
  const { output, settings, signal } = context;
  const since = flags.since === undefined ? undefined : parseTime("since", flags.since, -1);
  const status = flags.status === undefined ? undefined : parseState(flags.status);
  const { contextId } = settings;
  const filter: ListTasksOptions = {
    signal,
    ...defined({ contextId, since, status, includeArtifacts: flags.includeArtifacts }),
  };
  const agent = await context.openAgent();
  const listing = new Listing<Task>(output, { name: "tasks", hint: tooLongHint });
  let last: TaskPage | undefined;
  for await (const page of readPages(agent, filter, flags)) {
    last = page;
    await printTasks(output, page.tasks, flags);
    await listing.add(page.tasks);
  }
  const { nextPageToken = "", totalSize = 0, pageSize = 0 } = last ?? {};
  if (!output.streaming) {
    const request = create(ListTasksRequestSchema, { includeArtifacts: flags.includeArtifacts === true });
    const response = create(ListTasksResponseSchema, {
      tasks: listing.kept,
      nextPageToken,
      totalSize,
      pageSize: Math.max(pageSize, listing.kept.length),
    });
    await output.document(formatResponse(methods.listTasks, request, response));
  }
  await output.field("Total", totalSize);
  if (nextPageToken !== "") await printNextPage(context, nextPageToken, flags, since);
}

/** As many pages as were asked for; default one. */
async function* readPages(
  agent: AgentClient,
  filter: ListTasksOptions,
  { pageSize, pageToken, limit, all = false }: ListTasksFlags,
): AsyncGenerator<TaskPage, void> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  const { pages } = createPages(
    async (token) => {
      const size = limit === undefined ? pageSize : Math.min(pageSize ?? largestPage, left);
      const options = { ...filter, ...defined({ pageSize: size }), pageToken: token };
      const { value } = await agent.listTasks(options).pages()[Symbol.asyncIterator]().next();
      const page: TaskPage = value ?? create(ListTasksResponseSchema);
      return { page, nextPageToken: page.nextPageToken };
    },
    ({ tasks }) => tasks,
    pageToken,
  );
  for await (const page of pages()) {
    yield page;
    left -= page.tasks.length;
    if (left <= 0 || (limit === undefined && !all)) return;
  }
}

async function printTasks(output: Output, tasks: readonly Task[], flags: ListTasksFlags): Promise<void> {
  if (output.isTerminal && !output.verbose && flags.includeArtifacts !== true) {
    return await printTable(output, tasks);
  }
  for (const task of tasks) {
    await output.event(formatMessage(TaskSchema, task));
    if (flags.includeArtifacts === true || output.verbose) {
      await renderTask(output, task);
    } else {
      await renderIdentity(output, task.id, task.contextId);
      await renderState(output, task.status);
      const { timestamp } = task.status ?? {};
      await output.field("Updated", timestamp && timestampDate(timestamp).toISOString());
    }
  }
}

/** A line a task: its state, how long ago it changed, its id, and what was said last. */
async function printTable(output: Output, tasks: readonly Task[]): Promise<void> {
  if (tasks.length === 0) return;
  const width = process.stdout.columns || 80;
  const head = `${"STATE".padEnd(stateWidth)}${"CHANGED".padEnd(ageWidth)}TASK`;
  await output.write(`${output.paint("dim", head)}\n`);
  for (const task of tasks) {
    const { timestamp, message } = task.status ?? {};
    const state = stateOf(task);
    const age = timestamp === undefined ? "" : formatAge(Date.now() - timestampMs(timestamp));
    const id = toLine(task.id);
    const room = Math.max(0, width - stateWidth - ageWidth - id.length - 2);
    const rest = toLine(message === undefined ? "" : partText(message)).slice(0, room);
    const word = output.paint(stateStyle(state), formatTaskState(state).padEnd(stateWidth));
    const line = `${word}${age.padEnd(ageWidth)}${id}  ${output.paint("dim", rest)}`;
    await output.write(`${line.trimEnd()}\n`);
  }
}

/** Characters of the columns of a table; the longest state is `input-required`. */
const stateWidth = 16;
const ageWidth = 13;

/** `5 min ago`: of one unit, rounded down. */
function formatAge(ms: number): string {
  const [size, unit] = ages.find(([least]) => ms >= least) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(ms / size))} ${unit} ago`;
}

const ages = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
] as const;

/**
 * A token holds for the same filters only (spec §3.1.4), so the command for the next page names them, and a time that was relative as
 * it was taken: an hour ago is another time by then.
 */
async function printNextPage(
  { output, settings }: CommandContext,
  nextPageToken: string,
  { status, pageSize, includeArtifacts }: ListTasksFlags,
  since: Date | undefined,
): Promise<void> {
  await output.field("Next page", nextPageToken);
  const given = {
    "--context-id": settings.contextId,
    "--status": status,
    "--since": since?.toISOString(),
    "--page-size": pageSize?.toString(),
    "--include-artifacts": includeArtifacts,
    "--page-token": nextPageToken,
  };
  const words = Object.entries(defined(given)).flatMap(([flag, value]) =>
    value === true ? flag : [flag, `${value}`],
  );
  await output.note(`more tasks: ${commandLine(settings, ["task", "list"], words)}`);
}

/** `completed`, `INPUT_REQUIRED` or `TASK_STATE_WORKING`: what people type, what our output says, what the wire says. */
function parseState(text: string): TaskState {
  const word = text
    .trim()
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^task-state-/, "");
  const states = TaskStateSchema.values.slice(1).map(({ number }) => number as TaskState); // all but UNSPECIFIED
  const state = states.find((each) => formatTaskState(each) === word);
  if (state !== undefined) return state;
  throw usageError(`--status ${text} is not a state; use ${states.map(formatTaskState).join(", ")}`);
}
