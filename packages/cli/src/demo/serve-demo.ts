import { formatMessage } from "@a2a-connect/core/internal";
import { type ServeOptions, serve } from "@a2a-connect/node";
import { AgentCardSchema } from "@a2a-connect/proto";
import { createMemoryTaskStore } from "@a2a-connect/server";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { announceAgents, offerCommands, runServer } from "../serve/run-server.ts";
import { demoAgent } from "./demo-agent.ts";

/** Serves the demo agent until the user interrupts. Its tasks are gone afterwards. */
export async function serveDemo(
  context: CommandContext,
  flags: {
    readonly port: number;
    readonly host: string | undefined;
    readonly open: boolean | undefined;
  },
): Promise<void> {
  const { port, host, open } = flags;
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
const lessons: readonly (readonly [what: string, command: (agent: string) => string])[] = [
  ["Look at its card", (agent) => `a2a card get ${agent}`],
  ["Send a message, get one", (agent) => `a2a send ${agent} "echo hello"`],
  ["Watch a task stream, with progress", (agent) => `a2a send --stream ${agent} story`],
  ["The same for programs, as JSON Lines", (agent) => `a2a send --stream -o json ${agent} story`],
  ["Get a question, and the command that answers it", (agent) => `a2a send ${agent} choose`],
  ["Get a question whose answer is data", (agent) => `a2a send ${agent} form`],
  ["Get a request for credentials", (agent) => `a2a send ${agent} sign-in`],
  ["Get files, then save them", (agent) => `a2a send ${agent} file`],
  ["", (agent) => `a2a task download ${agent} TASK`],
  ["Do not wait; come back, or cancel", (agent) => `a2a send --async ${agent} slow`],
  ["", (agent) => `a2a task subscribe ${agent} TASK`],
  ["", (agent) => `a2a task cancel ${agent} TASK`],
  ["See a failure and a refusal", (agent) => `a2a send ${agent} fail`],
  ["", (agent) => `a2a send ${agent} reject`],
  ["List the tasks, replay one from its start", (agent) => `a2a task list ${agent}`],
  ["", (agent) => `a2a task history ${agent} TASK`],
  ["Get events by webhook", (agent) => `a2a task push-config listen ${agent} TASK`],
  ["All of it in one conversation", (agent) => `a2a chat ${agent}`],
];

/** Lines to read and to copy, for an agent at `url`. */
function guide(url: string): string[] {
  return lessons.flatMap(([what, command]) => [...(what === "" ? [] : [`# ${what}`]), command(`-a ${url}`)]);
}
