import { isSettled } from "@a2a-connect/core";
import { Role, type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import { afterAll, describe, expect, it } from "vitest";
import { type AgentProcess, startAgent, storeFile, temporaryDirectory } from "./agent-process.ts";
import { type Audit, auditList, auditTask, lastStatus } from "./audit.ts";
import { type Clients, createClients } from "./clients.ts";
import { type Fate, fateOf, isAsleep, readLife } from "./fate.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { runLoad } from "./load.ts";
import { createRandom, type Random } from "./random.ts";
import { count, isLong, report } from "./report.ts";
import { readLogs } from "./stored-log.ts";

/** Crashes on one data directory: few enough that no question of theirs times out (10 minutes) meanwhile. */
const killsPerDirectory = isLong ? 10 : 3;

/** One directory always, five in the long run; each crash has the seed of its number. */
const directories = isLong ? 5 : 1;

/** How many events and answers may be shown before a kill. The low ones hit the start of a load. */
const killAfter = { atLeast: 5, atMost: 1_000 };

/** After how many crashes the new server is killed, too, as soon as it has put things in order. */
const secondKillEvery = 3;

describe("kill -9 at a random moment under load", () => {
  const totals = { kills: 0, compared: 0 };
  afterAll(() =>
    report({
      fault: "`kill -9` at a random moment, under the load of two dozen callers",
      times: count(totals.kills, "kills"),
      compared: count(totals.compared, "events and answers"),
    }),
  );

  for (let directory = 0; directory < directories; directory++) {
    const seeds = Array.from(
      { length: killsPerDirectory },
      (_, kill) => directory * killsPerDirectory + kill + 1,
    );
    it(`loses nothing that was shown or acknowledged: seeds ${seeds[0]} to ${seeds.at(-1)}`, {
      timeout: killsPerDirectory * 60_000,
    }, async () => {
      const counts = await crashAgain(temporaryDirectory(), seeds);
      console.log("crash:", JSON.stringify(counts));
      totals.kills += counts.kills;
      totals.compared += counts.events + counts.answers;
      expect(counts.kills).toBe(killsPerDirectory);
      const { tasks, answers, interrupted, wentOn, beganAgain } = counts;
      expect(Math.min(tasks, answers, interrupted, wentOn, beganAgain)).toBeGreaterThan(0);
      expect(counts.events).toBeGreaterThan(killsPerDirectory * 100);
    });
  }
});

/** What the crashes on one directory came to. */
interface Counts {
  readonly kills: number;
  readonly tasks: number;
  /** Events and answers that were shown, and were compared with the log and the tasks after the last crash. */
  readonly events: number;
  readonly answers: number;
  /** Tasks that a crash has ended. */
  readonly interrupted: number;
  /** How often a task was at work in a crash, and went on as if nothing had happened. */
  readonly wentOn: number;
  /** How often a turn was, and began again. */
  readonly beganAgain: number;
}

const noFates = { interrupted: 0, wentOn: 0, beganAgain: 0 };

/** Crashes once for each seed, and looks after each for everything that was ever shown. */
async function crashAgain(dataDir: string, seeds: readonly number[]): Promise<Counts> {
  const ledger = createLedger();
  let counts: Counts = { kills: 0, tasks: 0, events: 0, answers: 0, ...noFates };
  let agent = await startAgent(dataDir);
  for (const seed of seeds) {
    await crash(agent, ledger, createRandom(seed));
    const logs = await readLogs(storeFile(dataDir), ledger.tasks.keys());
    if (seed % secondKillEvery === 0) await crashAtStart(dataDir);
    agent = await startAgent(dataDir);
    using clients = createClients(agent.url);
    await settle(clients);
    const tasks = await getAll(clients, ledger);
    const lives = await readLives(clients, tasks, logs);
    const audits: Audit[] = [...ledger.tasks.values()].map((shown) => {
      const now = tasks.get(shown.id);
      const log = logs.get(shown.id) ?? [];
      return now === undefined
        ? { problems: [`task ${shown.id} is gone`], comparedEvents: 0, comparedAnswers: 0 }
        : auditTask(shown, log, lives.get(shown.id) ?? log, now);
    });
    const problems = [...audits.flatMap(({ problems }) => problems), ...(await auditList(clients, tasks))];
    expect({ seed, problems }).toEqual({ seed, problems: [] });
    await expectNewWork(clients);
    counts = {
      kills: counts.kills + 1,
      tasks: ledger.tasks.size,
      events: total(audits, "comparedEvents"),
      answers: total(audits, "comparedAnswers"),
      interrupted: [...tasks.values()].filter(wasInterrupted).length,
      wentOn: counts.wentOn + countFate("goes on", lives, tasks),
      beganAgain: counts.beganAgain + countFate("begins again", lives, tasks),
    };
  }
  agent.signal("SIGKILL");
  await agent.ended;
  return counts;
}

/** Puts a load on the agent and kills it in the middle. What was on its way then still counts as shown. */
async function crash(agent: AgentProcess, ledger: Ledger, random: Random): Promise<void> {
  using clients = createClients(agent.url);
  const killed = new AbortController();
  ledger.after(random.between(killAfter.atLeast, killAfter.atMost), () => {
    killed.abort();
    agent.signal("SIGKILL");
  });
  await runLoad({ clients, ledger, random, signal: killed.signal });
  expect(await agent.ended).toMatchObject({ signal: "SIGKILL" });
}

async function crashAtStart(dataDir: string): Promise<void> {
  const agent = await startAgent(dataDir);
  agent.signal("SIGKILL");
  await agent.ended;
}

async function getAll(clients: Clients, { tasks }: Ledger): Promise<ReadonlyMap<string, Task>> {
  const found = new Map<string, Task>();
  for (const id of tasks.keys()) {
    // A task that is gone is the audit's to report.
    const task = await clients
      .next()
      .getTask({ id })
      .catch(() => undefined);
    if (task !== undefined) found.set(id, task);
  }
  return found;
}

/** Resolves when everything that a crash has left at work is done with it. */
async function settle(clients: Clients): Promise<void> {
  for (const status of [TaskState.SUBMITTED, TaskState.WORKING]) {
    let atWork: readonly Task[];
    do {
      const page = await clients.next().listTasks({ status, pageSize: 100 });
      if (page.nextPageToken !== "") throw new Error("more tasks are asleep than this test makes");
      atWork = page.tasks.filter((task) => !isAsleep(task));
    } while (atWork.length > 0);
  }
}

/** All events of the tasks that were at work in a crash, and that it has not ended. */
async function readLives(
  clients: Clients,
  tasks: ReadonlyMap<string, Task>,
  logs: ReadonlyMap<string, readonly StreamResponse[]>,
): Promise<ReadonlyMap<string, readonly StreamResponse[]>> {
  const lives = new Map<string, readonly StreamResponse[]>();
  for (const [id, task] of tasks) {
    const atCrash = lastStatus(logs.get(id) ?? []);
    const wasAtWork = atCrash !== undefined && !isSettled(atCrash.state);
    if (wasAtWork && fateOf(task) !== "ends") lives.set(id, await readLife(clients, task));
  }
  return lives;
}

function countFate(
  fate: Fate,
  lives: ReadonlyMap<string, unknown>,
  tasks: ReadonlyMap<string, Task>,
): number {
  return [...tasks].filter(([id, task]) => lives.has(id) && !isAsleep(task) && fateOf(task) === fate).length;
}

/** A new task runs, and a question that somebody asked before the crash can be answered. */
async function expectNewWork(clients: Clients): Promise<void> {
  const waiting = await clients.next().listTasks({ status: TaskState.INPUT_REQUIRED, pageSize: 1 });
  for (const taskId of ["", ...waiting.tasks.map(({ id }) => id)]) {
    const parts = [{ content: { case: "text" as const, value: "task after the crash" } }];
    const message = { messageId: crypto.randomUUID(), taskId, role: Role.USER, parts };
    const { payload } = await clients.next().sendMessage({ message });
    if (payload.case !== "task") throw new Error(`new work was answered with ${payload.case}`);
    expect(payload.value.status?.state).toBe(TaskState.COMPLETED);
    expect(payload.value.artifacts).toHaveLength(1);
  }
}

function wasInterrupted({ status }: Task): boolean {
  return (
    status?.state === TaskState.FAILED && JSON.stringify(status.message?.metadata).includes("interrupted")
  );
}

function total(audits: readonly Audit[], name: "comparedEvents" | "comparedAnswers"): number {
  return audits.reduce((sum, audit) => sum + audit[name], 0);
}
