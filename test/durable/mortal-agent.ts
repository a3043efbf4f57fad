import { findA2AError, isTerminal } from "@a2a-connect/core";
import { lastEventIdHeader } from "@a2a-connect/core/internal";
import { A2AService, type StreamResponse } from "@a2a-connect/proto";
import { say, taskOf } from "@a2a-connect/testing";
import { type Client, createClient } from "@connectrpc/connect";
import { type AgentProcess, startAgent, temporaryDirectory } from "../faults/agent-process.ts";
import { wires } from "../interop/wires.ts";

/** The reference agent, again and again on one data directory. */
export interface MortalAgent {
  /** A client of the agent as it is up now, or as soon as it is. */
  client(wire?: string): Promise<Client<typeof A2AService>>;
  /** `kill -9`, and another one in its place; resolves when that is ready. */
  kill(): Promise<void>;
  /** Starts a task and does not wait for it. @returns its id */
  begin(text: string): Promise<string>;
  /**
   * Every event of a task from its creation to its end, over one wire; whenever the server dies, what is missing is asked
   * for with `Last-Event-ID`.
   *
   * @param onEvent told how many there are, after each
   */
  follow(taskId: string, wire?: string, onEvent?: (count: number) => void): Promise<StreamResponse[]>;
  /** Reads the task's events until there are so many. */
  until(taskId: string, count: number): Promise<void>;
}

/** Starts the agent. @param options further command line options, of every one of them */
export async function startMortalAgent(...options: readonly string[]): Promise<MortalAgent> {
  const dataDir = temporaryDirectory();
  let agent: Promise<AgentProcess> = startAgent(dataDir, ...options);
  await agent;

  async function client(wire = "gRPC"): Promise<Client<typeof A2AService>> {
    const createTransport = wires[wire];
    if (createTransport === undefined) throw new Error(`there is no wire ${wire}`);
    return createClient(A2AService, createTransport((await agent).url));
  }

  async function follow(taskId: string, wire?: string, onEvent?: (count: number) => void) {
    const events: StreamResponse[] = [];
    for (;;) {
      try {
        const headers = { [lastEventIdHeader]: String(events.length) };
        for await (const event of (await client(wire)).subscribeToTask({ id: taskId }, { headers })) {
          events.push(event);
          onEvent?.(events.length);
        }
        if (isEnd(events.at(-1))) return events;
      } catch (error) {
        if (findA2AError(error) !== undefined) throw error; // anything else is how a dead server looks
      }
    }
  }

  return {
    client,
    follow,
    async kill() {
      const dead = await agent;
      agent = (async () => {
        dead.signal("SIGKILL");
        await dead.ended;
        return startAgent(dataDir, ...options);
      })();
      await agent;
    },
    async begin(text) {
      const request = { ...say(text), configuration: { returnImmediately: true } };
      return taskOf(await (await client()).sendMessage(request)).id;
    },
    async until(taskId, count) {
      const headers = { [lastEventIdHeader]: "0" };
      let seen = 0;
      for await (const _event of (await client()).subscribeToTask({ id: taskId }, { headers })) {
        if (++seen === count) return;
      }
      throw new Error(`the task has ended after ${seen} events`);
    },
  };
}

function isEnd(event: StreamResponse | undefined): boolean {
  const payload = event?.payload;
  const status =
    payload?.case === "statusUpdate" || payload?.case === "task" ? payload.value.status : undefined;
  return status !== undefined && isTerminal(status.state);
}
