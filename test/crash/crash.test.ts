import { Role, type Task, TaskState } from "@a2a-connect/proto";
import { describe, expect, it } from "vitest";
import { type AgentProcess, startAgent, storeFile, temporaryDirectory } from "./agent-process.ts";
import { type Audit, auditList, auditTask } from "./audit.ts";
import { type Clients, createClients } from "./clients.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { runLoad } from "./load.ts";
import { createRandom, type Random } from "./random.ts";
import { readLogs } from "./stored-log.ts";

/** Crashes on one data directory: 10 always, 50 in the long run, each with the seed of its number. */
const kills = process.env["A2A_LONG"] === "1" ? 50 : 10;

/** How many events and answers may be shown before a kill. The low ones hit the start of a load. */
const killAfter = { atLeast: 5, atMost: 1_000 };

/** After how many crashes the new server is killed, too, as soon as it has put things in order. */
const secondKillEvery = 3;

describe("kill -9 at a random moment under load", () => {
  it(`loses nothing that was shown or acknowledged, ${kills} times`, {
    timeout: kills * 20_000,
  }, async () => {
    const dataDir = temporaryDirectory();
    const ledger = createLedger();
    const sum = { kills: 0, events: 0, answers: 0, interrupted: 0 };
    let agent = await startAgent(dataDir);
    for (let seed = 1; seed <= kills; seed++) {
      const before = new Set(ledger.tasks.keys());
      await crash(agent, ledger, createRandom(seed));
      const logs = await readLogs(storeFile(dataDir), ledger.tasks.keys());
      if (seed % secondKillEvery === 0) await crashAtStart(dataDir);
      agent = await startAgent(dataDir);
      using clients = createClients(agent.url);
      const tasks = await getAll(clients, ledger);
      const audits: Audit[] = [...ledger.tasks.values()].map((shown) => {
        const now = tasks.get(shown.id);
        return now === undefined
          ? { problems: [`task ${shown.id} is gone`], comparedEvents: 0, comparedAnswers: 0 }
          : auditTask(shown, logs.get(shown.id) ?? [], now);
      });
      const problems = [...audits.flatMap(({ problems }) => problems), ...(await auditList(clients, tasks))];
      expect({ seed, problems }).toEqual({ seed, problems: [] });
      await expectNewWork(clients);

      sum.kills += 1;
      sum.events = total(audits, "comparedEvents");
      sum.answers = total(audits, "comparedAnswers");
      sum.interrupted += [...tasks.values()].filter(
        (task) => !before.has(task.id) && wasInterrupted(task),
      ).length;
    }
    agent.signal("SIGKILL");
    await agent.ended;

    const counts = { ...sum, tasks: ledger.tasks.size };
    console.log("crash:", JSON.stringify(counts));
    expect(sum.kills).toBe(kills);
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
    expect(sum.events).toBeGreaterThan(kills * 100);
  });
});

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
