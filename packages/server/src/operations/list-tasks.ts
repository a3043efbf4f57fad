import { invalidParams } from "@a2a-connect/core";
import { findTaskPhase } from "@a2a-connect/core/internal";
import { type ListTasksRequest, TaskState } from "@a2a-connect/proto";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { TaskEngine } from "../engine/task-engine.ts";
import type { ListCursor, Owner, TaskPage, TaskQuery, TaskView } from "../store/task-store.ts";
import {
  answerCounterOf,
  assertHistoryLength,
  callerOf,
  type Operation,
  ownerOf,
  showTask,
} from "./operation.ts";
import { formatPageToken, parsePageToken } from "./page-token.ts";

const defaultPageSize = 50;
const maxPageSize = 100;

/**
 * ListTasks: the caller's tasks, newest status first, page by page (spec §3.1.4). A page that would be too large ends
 * early: its token continues the list.
 *
 * @param maxBytes of a page: it ends with the task that exceeds this
 */
export function listTasks(engine: TaskEngine, maxBytes: number): Operation<"listTasks"> {
  return async (request, context) => {
    assertRequest(request);
    const owner = ownerOf(context);
    const { includeArtifacts = false, pageSize = defaultPageSize, pageToken, historyLength } = request;
    const scope = scopeOf(owner, request);
    const query: TaskQuery = {
      owner,
      contextId: request.contextId || undefined,
      state: request.status === TaskState.UNSPECIFIED ? undefined : request.status,
      since: lowerBoundMs(request.statusTimestampAfter),
      after: pageToken === "" ? undefined : toCursor(parsePageToken(pageToken, scope)),
      limit: pageSize,
      maxBytes,
      view: chooseView(includeArtifacts, historyLength),
    };
    const { tasks, page } = await engine.list(query, callerOf(context), answerCounterOf(context));
    return {
      tasks: tasks.map((seen) => showTask(seen, context, historyLength)),
      nextPageToken: nextPageToken(page, scope),
      pageSize,
      totalSize: page.totalSize,
    };
  };
}

function assertRequest({ pageSize, historyLength, status }: ListTasksRequest): void {
  if (pageSize !== undefined && (pageSize < 1 || pageSize > maxPageSize)) {
    throw invalidParams({
      field: "pageSize",
      description: `must be from 1 to ${maxPageSize}, but is ${pageSize}`,
    });
  }
  assertHistoryLength("historyLength", historyLength);
  if (status !== TaskState.UNSPECIFIED && findTaskPhase(status) === undefined) {
    throw invalidParams({ field: "status", description: `there is no task state ${status}` });
  }
}

function chooseView(withArtifacts: boolean, historyLength: number | undefined): TaskView {
  if (historyLength === 0) {
    return withArtifacts ? "results" : "summary";
  }
  return withArtifacts ? "full" : "head";
}

/**
 * Our timestamps have milliseconds. So at or after a bound with nanoseconds is at or after the next millisecond.
 */
function lowerBoundMs(bound: Timestamp | undefined): number | undefined {
  if (bound === undefined) {
    return undefined;
  }
  return Math.floor(timestampMs({ ...bound, nanos: 0 })) + Math.ceil(bound.nanos / 1_000_000);
}

/** A token is valid for one caller and one set of filters; the page size may change from page to page. */
function scopeOf({ tenant, principal }: Owner, request: ListTasksRequest): readonly (string | number)[] {
  const { contextId, status, statusTimestampAfter } = request;
  const bound =
    statusTimestampAfter === undefined ? "" : `${statusTimestampAfter.seconds}.${statusTimestampAfter.nanos}`;
  return [tenant, principal, contextId, status, bound];
}

function toCursor([statusTimestamp, taskId]: readonly unknown[]): ListCursor {
  if (typeof statusTimestamp !== "number" || typeof taskId !== "string") {
    throw invalidParams({ field: "pageToken", description: "is damaged" });
  }
  return { statusTimestamp, taskId };
}

function nextPageToken({ tasks, more }: TaskPage, scope: readonly (string | number)[]): string {
  const last = tasks.at(-1);
  return more && last !== undefined ? formatPageToken([last.index.statusTimestamp, last.taskId], scope) : "";
}
