import { setImmediate as nextTurn } from "node:timers/promises";
import { createFakeClock } from "@a2a-connect/testing";
import { expect, it } from "vitest";
import type { TaskRef, UnfinishedQuery } from "../store/task-store.ts";
import { type TakeUp, UnfinishedTasks } from "./unfinished-tasks.ts";

type Named = TaskRef & { readonly hasTimer: boolean };

/** So many unfinished tasks of a principal. */
function tasksOf(principal: string, count: number, hasTimer: boolean): Named[] {
  return Array.from({ length: count }, (_, at) => ({
    owner: { tenant: "", principal },
    taskId: `${principal}-${hasTimer ? "timer" : "work"}-${String(at).padStart(3, "0")}`,
    hasTimer,
  }));
}

/** Takes up what is in `all`, and later what a test adds to it. */
function takeUpAll(all: readonly Named[], takeUp: TakeUp): Promise<void> {
  const placeOf = ({ owner, taskId }: TaskRef) => `${owner.principal} ${taskId}`;
  const unfinished = async ({ hasTimer, after, limit }: UnfinishedQuery): Promise<readonly TaskRef[]> => {
    const isAfter = (task: Named): boolean => {
      if (after === undefined) return true;
      return "taskId" in after ? placeOf(task) > placeOf(after) : task.owner.principal > after.principal;
    };
    const found = all.filter((task) => task.hasTimer === hasTimer && isAfter(task));
    return found.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1)).slice(0, limit);
  };
  const clock = { ...createFakeClock(), nextTurn: () => nextTurn() };
  const context = { store: { unfinished }, clock, log: () => {}, isLeftBehind: () => true };
  const tasks = new UnfinishedTasks(context as never, takeUp); // of the store it needs the names alone
  tasks.goToBackground();
  return tasks.takeUpAll();
}

it("takes up all tasks of a principal whose tasks wait, while another one before it gets new ones", async () => {
  const all = [...tasksOf("alice", 1, false), ...tasksOf("carol", 12, false), ...tasksOf("carol", 5, true)];
  const carols = all.filter(({ owner }) => owner.principal === "carol").map(({ taskId }) => taskId);
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  await takeUpAll(all, async ({ owner, taskId }, onPutOff) => {
    if (owner.principal === "carol") {
      onPutOff();
      await new Promise<void>((go) => waiting.push(go));
    }
    taken.push(taskId);
  });
  all.push(...tasksOf("bob", 8, true));
  for (let rounds = 0; rounds < 100; rounds += 1) {
    for (const go of waiting.splice(0)) go();
    await nextTurn();
  }
  expect(taken.filter((id) => id.startsWith("carol")).toSorted()).toEqual(carols.toSorted());
});
