import { formatMessage } from "@a2a-connect/core/internal";
import { type ServeOptions, serve } from "@a2a-connect/node";
import { AgentCardSchema } from "@a2a-connect/proto";
import { createMemoryTaskStore } from "@a2a-connect/server";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { announceAgents, offerCommands, runServer } from "../serve/run-server.ts";
import type { ServeFlags } from "../serve/serve-file.ts";
import { demoAgent } from "./demo-agent.ts";

/** Serves the demo agent until the user interrupts, on another port than `a2a serve`. Its tasks are gone afterwards. */
export async function serveDemo(
  context: CommandContext,
  { port = 4100, host, open }: Pick<ServeFlags, "port" | "host" | "open">,
): Promise<void> {
  const options: ServeOptions = {
    port,
    ...defined({ host, open }),
    shutdown: false,
    store: createMemoryTaskStore(),
    push: { allow: ["localhost", "127.0.0.1", "[::1]"] }, // receivers on this machine only
  };
  await runServer(
    context,
    { port, graceMs: 2_000 },
    (log) => serve(demoAgent, { ...options, log }),
    async (served) => {
      await context.output.document(formatMessage(AgentCardSchema, served.card));
      await announceAgents(context.output, [served]);
      await offerCommands(context.output, guide(served.url));
    },
  );
}

/** What there is to practise, in an order that makes sense, each with the command to copy. */
const lessons: readonly (readonly [what: string, ...commands: readonly string[]])[] = [
  ["Look at its card", "card get AGENT"],
  ["Send a message, get one", 'send AGENT "echo hello"'],
  ["Watch a task stream, with progress", "send --stream AGENT story"],
  ["The same for programs, as JSON Lines", "send --stream -o json AGENT story"],
  ["Get a question, and the command that answers it", "send AGENT choose"],
  ["Get a question whose answer is data", "send AGENT form"],
  ["Get a request for credentials", "send AGENT sign-in"],
  ["Get files, then save them", "send AGENT file", "task download AGENT TASK"],
  [
    "Do not wait; come back, or cancel",
    "send --async AGENT slow",
    "task subscribe AGENT TASK",
    "task cancel AGENT TASK",
  ],
  ["See a failure and a refusal", "send AGENT fail", "send AGENT reject"],
  ["List the tasks, replay one from its start", "task list AGENT", "task history AGENT TASK"],
  ["Get events by webhook", "task push-config listen AGENT TASK"],
  ["All of it in one conversation", "chat AGENT"],
];

/** Lines to read and to copy, for an agent at `url`. */
function guide(url: string): string[] {
  return lessons.flatMap(([what, ...commands]) => [
    `# ${what}`,
    ...commands.map((command) => `a2a ${command.replace("AGENT", `-a ${url}`)}`),
  ]);
}
