import { type AgentDefinition, defineAgent, type Turn, type TurnEvent } from "@a2a-connect/server";

/** An agent that remembers what it has been told to do. */
export interface CountingAgent {
  readonly agent: AgentDefinition;
  /** The text of every message that an executor was begun for, in order. */
  readonly runs: readonly string[];
  /** Lets every `hold` go on, those that come later too. */
  release(): void;
}

/**
 * `task` makes a task, `reply` is answered directly, `ask` asks and then completes, `hold` works until it is released,
 * `fail` throws before there is a task. What follows the word is part of the text and nothing more.
 */
export function createCountingAgent(): CountingAgent {
  const runs: string[] = [];
  const released = Promise.withResolvers<void>();
  async function* execute(turn: Turn): AsyncGenerator<TurnEvent> {
    runs.push(turn.text);
    switch (turn.text.split(" ")[0]) {
      case "reply":
        yield turn.reply(`reply ${runs.length}`);
        break;
      case "ask":
        yield turn.inputRequired("Which one?");
        break;
      case "fail":
        throw new Error("told to");
      case "hold":
        yield turn.working("holding");
        await released.promise;
        break;
      default:
        yield turn.artifact({ id: "result", text: `run ${runs.length}` });
    }
  }
  const agent = defineAgent({ card: { name: "Counting" }, execute, cancelGraceMs: 50 });
  return { agent, runs, release: released.resolve };
}
