import { type Task, TaskState } from "@a2a-connect/proto";
import {
  type A2AClient,
  type AgentHarness,
  createScriptedExecutor,
  type HarnessOptions,
  type ScriptedTurn,
  say,
  startAgentHarness,
} from "@a2a-connect/testing";

/** A server whose agent does what a test says. */
export interface Stage extends AsyncDisposable {
  readonly harness: AgentHarness;
  /** Starts a task that is WORKING until the test says otherwise. Its generation is 2. */
  startTask(): Promise<{ readonly id: string; readonly play: ScriptedTurn }>;
}

/** Serves both versions of the protocol. */
export async function openStage(options: Omit<HarnessOptions, "agent"> = {}): Promise<Stage> {
  const script = createScriptedExecutor();
  const harness = await startAgentHarness({
    agent: { card: { name: "Agent" }, execute: script.execute },
    protocolVersions: ["1.0", "1.1"],
    ...options,
  });
  return {
    harness,
    async startTask() {
      const begin = async () => {
        const begun = await script.nextTurn();
        await begun.yields(begun.turn.working());
        return begun;
      };
      const configuration = { returnImmediately: true };
      const [play] = await Promise.all([
        begin(),
        harness.clients.connect.sendMessage({ ...say("go"), configuration }),
      ]);
      const id = play.turn.taskId;
      await untilSeen(harness.clients.connect, id, ({ status }) => status?.state === TaskState.WORKING);
      return { id, play };
    },
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
}

/** Reads a task until it is as `wanted`: what an agent has said can be seen when it is durable, a moment later. */
export async function untilSeen(
  client: A2AClient,
  id: string,
  wanted: (task: Task) => boolean,
): Promise<Task> {
  const signal = AbortSignal.timeout(10_000);
  for (;;) {
    const task = await client.getTask({ id }, { signal });
    if (wanted(task)) {
      return task;
    }
  }
}
