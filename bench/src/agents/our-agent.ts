import { type AgentDefinition, defineAgent, type Turn, type TurnEvent } from "@a2a-connect/server";
import { artifactId, chunk, parseCommand } from "./command.ts";
import { liveChunks } from "./live-chunks.ts";

/** The bench's agent, written for our server. */
export const ourAgent: AgentDefinition = defineAgent({
  card: {
    name: "Bench",
    skills: [{ id: "bench", name: "Bench", description: "Does what it is told.", tags: [] }],
  },
  execute,
});

async function* execute(turn: Turn): AsyncGenerator<TurnEvent> {
  const command = parseCommand(turn.text);
  switch (command.kind) {
    case "echo":
      yield turn.reply(command.text);
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
    case "hold":
      yield turn.working();
      await aborted(turn.signal);
      break;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
