import type { Message } from "@a2a-connect/proto";
import {
  type AgentDefinition,
  type DurableEvent,
  type DurableTask,
  defineAgent,
  type Turn,
  type TurnEvent,
} from "@a2a-connect/server";
import { arrive } from "./arrivals.ts";
import { artifactId, chunk, isDurable, parseOrder } from "./command.ts";
import { atGate, openGate } from "./gate.ts";
import { liveChunks, liveUpdates } from "./live-chunks.ts";

/** The bench's agent, written for our server. What needs a durable executor is a skill of its own. */
export const ourAgent: AgentDefinition = defineAgent({
  card: {
    name: "Bench",
    skills: [
      { id: "bench", name: "Bench", description: "Does what it is told.", tags: [] },
      {
        id: "durable",
        name: "Durable bench",
        description: "Does what it is told, over restarts.",
        tags: [],
        durable: true,
        execute: executeDurably,
      },
    ],
  },
  route: (message) => (isDurable(parseOrder(firstText(message)).command) ? "durable" : undefined),
  execute,
});

async function* execute(turn: Turn): AsyncGenerator<TurnEvent> {
  const { command, gated } = parseOrder(firstText(turn.message));
  if (gated) {
    yield turn.working();
    await atGate();
  }
  switch (command.kind) {
    case "echo":
      yield turn.reply(command.text);
      break;
    case "go":
      openGate();
      yield turn.reply("gone");
      break;
    case "task":
      yield turn.working();
      yield turn.artifact({ id: artifactId, text: command.text });
      break;
    case "stream":
      yield turn.working();
      for await (const words of liveChunks(command.chunks)) {
        yield turn.append(artifactId, words);
      }
      break;
    case "burst":
      yield turn.working();
      for (let sent = 0; sent < command.chunks; sent++) {
        yield turn.append(artifactId, chunk);
      }
      break;
    case "replace":
      yield turn.working();
      for await (const text of liveUpdates(command.updates, command.bytes)) {
        yield turn.artifact({ id: artifactId, text });
      }
      break;
    case "question":
      yield turn.inputRequired("Well?", { timeoutMs: command.timeoutMs });
      break;
    case "hold":
      yield turn.working();
      arrive();
      await aborted(turn.signal);
      break;
  }
}

async function* executeDurably(task: DurableTask): AsyncGenerator<DurableEvent> {
  const { command } = parseOrder(firstText(task.message));
  yield task.working();
  switch (command.kind) {
    case "ask":
      yield* task.ask({ text: "Well?", timeoutMs: command.timeoutMs });
      break;
    case "nap":
      arrive();
      await task.sleep(command.ms);
      break;
    case "labour":
      await task.step("labour", ({ signal }) => {
        arrive();
        return aborted(signal);
      });
      break;
    case "steps":
      for (let done = 0; done < command.steps; done++) {
        await task.step("nothing", () => done);
      }
      break;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** The command, which is the first part: others may be as large as they like. */
function firstText({ parts }: Message): string {
  const content = parts[0]?.content;
  return content?.case === "text" ? content.value : "";
}
