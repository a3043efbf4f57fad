import { StreamResponseSchema, TaskState } from "@a2a-connect/proto";
import {
  createEngineHarness,
  createFakeClock,
  type EngineHarness,
  type FakeClock,
} from "@a2a-connect/testing";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { createJournalCodec, type JournalRecord } from "../src/engine/durable/journal-codec.ts";
import {
  type AgentDefinition,
  type AgentServerOptions,
  createMemoryTaskStore,
  type DurableExecutor,
  type TaskStore,
} from "../src/index.ts";
import type { LogEntry } from "../src/store/index.ts";
import { createMortalStore, type Death, type MortalStore } from "./mortal-store.ts";
import { detached, endOf, sendTask } from "./tasks.ts";

/** The anonymous caller, as the store knows it. */
export const anonymous = { tenant: "", principal: "anonymous" };

/** One process among several over the same store and clock. */
export interface Process extends EngineHarness {
  /** Ends it without a word, as `kill -9` does. */
  kill(): void;
  readonly dead: boolean;
}

/** Processes with an agent over one store, one after the other. */
export interface DurableServers {
  readonly store: TaskStore;
  readonly clock: FakeClock;
  /** Starts a process; `death` says when it dies by itself. */
  open(death?: Death): Promise<Process>;
  /** The records in a task's journal, in order. */
  journal(taskId: string): Promise<readonly JournalRecord[]>;
  /** The log of a task. */
  log(taskId: string): Promise<readonly LogEntry[]>;
}

/** Options of the agent and its server. */
export type DurableServerOptions = Omit<AgentServerOptions, "agent" | "clock" | "log" | "store"> & {
  readonly store?: TaskStore;
  readonly agent?: Partial<Omit<AgentDefinition, "execute" | "durable">>;
};

/** Makes a store and a clock; processes run `execute`, which is durable. */
export function createDurableServers(
  execute: DurableExecutor,
  { agent, ...options }: DurableServerOptions = {},
): DurableServers {
  const definition = { card: { name: "Durable" }, ...agent, durable: true, execute } as AgentDefinition; // whose code is durable
  return createServers(definition, options);
}

/** Makes a store and a clock; processes run this agent. */
export function createServers(
  agent: AgentDefinition,
  { store = createMemoryTaskStore(), ...options }: Omit<DurableServerOptions, "agent"> = {},
): DurableServers {
  const clock = createFakeClock();
  const codec = createJournalCodec(agent.journalTypes);
  let ids = 0;
  async function log(taskId: string) {
    const entries: LogEntry[] = [];
    let after = { sequence: 0, generation: 0 };
    for (;;) {
      const page = await store.entries(anonymous, taskId, after, "all", 1_000);
      entries.push(...page.entries);
      if (!page.more) return entries;
      after = page.end;
    }
  }
  return {
    store,
    clock,
    async open(death) {
      const mortal: MortalStore = createMortalStore(store, death);
      const harness = await createEngineHarness({
        ...options,
        agent,
        clock,
        store: mortal,
        randomId: () => `id-${++ids}`,
      });
      return Object.defineProperties(harness, {
        kill: { value: mortal.kill },
        dead: { get: () => mortal.dead },
      }) as Process; // just made one
    },
    log,
    journal: async (taskId) =>
      (await log(taskId))
        .filter(({ kind }) => kind === "journal")
        .map(({ payload }) => codec.decode(payload)),
  };
}

/** A process with one task that has got as far as it can by itself. */
export async function beginTask({ open, clock }: DurableServers) {
  const process = await open();
  const { id } = await sendTask(process.client, detached());
  await clock.settle();
  return { process, id };
}

/** The first process of an agent with that code, with one task that has got as far as it can by itself. */
export async function beginDurable(execute: DurableExecutor, options?: DurableServerOptions) {
  const servers = createDurableServers(execute, options);
  return { ...servers, servers, ...(await beginTask(servers)) };
}

/** Cancels a task with metadata. What it gives: the state and reason. */
export async function cancel({ client }: Process, id: string) {
  return endOf(await client.cancelTask({ id, metadata: { why: "changed my mind" } }));
}

/** What `cancel` gives for a task that was canceled. */
export const canceled = [TaskState.CANCELED, "canceled"];

/** What a task's log shows callers, without ids and timestamps. */
export function transcriptOf(log: readonly LogEntry[]): readonly unknown[] {
  const names = new Set(["taskId", "contextId", "id", "messageId", "timestamp"]);
  return log
    .filter(({ generation }) => generation !== undefined)
    .map(({ payload }) =>
      JSON.parse(
        JSON.stringify(
          toJson(StreamResponseSchema, fromBinary(StreamResponseSchema, payload)),
          (key, value) => (names.has(key) ? undefined : value),
        ),
      ),
    );
}
