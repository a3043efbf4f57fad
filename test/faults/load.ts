import { findA2AError } from "@a2a-connect/core";
import { Role, type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import type { Clients } from "./clients.ts";
import type { Ledger } from "./ledger.ts";
import type { Random } from "./random.ts";

/** What the load works with. */
export interface LoadOptions {
  readonly clients: Clients;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Aborts when the server was killed: from then on calls may fail. */
  readonly signal: AbortSignal;
}

/** Callers at a time. */
const concurrency = 24;

/**
 * Keeps a server busy with everything that writes to a log, until `signal` aborts and all callers have noticed.
 *
 * @throws whatever a call throws before the abort
 */
export async function runLoad(options: LoadOptions): Promise<void> {
  await Promise.all(Array.from({ length: concurrency }, () => runCaller(options)));
}

async function runCaller(options: LoadOptions): Promise<void> {
  const { random, signal } = options;
  try {
    while (!signal.aborted) {
      await pick(scenes, random)(options).catch(ignoreLostRace);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type Scene = (options: LoadOptions) => Promise<void>;

const scenes: readonly Scene[] = [
  (options) => streamText(options, `stream ${options.random.between(1, 60)}`),
  (options) => streamText(options, `burst ${options.random.between(50, 300)}`),
  (options) => streamText(options, `replace ${options.random.between(2, 20)} 2`),
  (options) => streamText(options, "fail on request"),
  // These are in the middle of something whenever the kill comes, each with another fate.
  (options) => streamText(options, "stream 40 1"),
  (options) => streamText(options, "turn that ends"),
  (options) => streamText(options, "turn-restart that begins again"),
  watch,
  async (options) => void (await sendText(options, "task crash")),
  async (options) => void (await sendText(options, "parts")),
  async (options) => void (await sendText(options, "auth")),
  async (options) => void (await sendText(options, `stream ${options.random.between(1, 200)} 1`, true)),
  ask,
  answerSomebody,
  cancel,
  read,
];

function pick<Value>(values: readonly Value[], random: Random): Value {
  const value = values[random.between(0, values.length - 1)];
  if (value === undefined) throw new Error("nothing to pick from");
  return value;
}

function userMessage(text: string, taskId = "") {
  const messageId = crypto.randomUUID();
  return {
    messageId,
    taskId,
    role: Role.USER,
    parts: [{ content: { case: "text" as const, value: text } }],
  };
}

async function streamText({ clients, ledger }: LoadOptions, text: string): Promise<void> {
  const message = userMessage(text);
  const note = ledger.stream(true, message.messageId);
  await noteAll(clients.next().sendStreamingMessage({ message }), note);
}

async function noteAll(
  events: AsyncIterable<StreamResponse>,
  note: (event: StreamResponse) => void,
): Promise<void> {
  for await (const event of events) note(event);
}

async function sendText(
  { clients, ledger }: LoadOptions,
  text: string,
  returnImmediately = false,
  taskId?: string,
): Promise<Task> {
  const message = userMessage(text, taskId);
  const { payload } = await clients.next().sendMessage({ message, configuration: { returnImmediately } });
  if (payload.case !== "task") throw new Error(`${text} was answered with ${payload.case}`);
  ledger.answer(payload.value, message.messageId);
  return payload.value;
}

/** Two more readers of a task that is at work. */
async function watch(options: LoadOptions): Promise<void> {
  const { clients, ledger } = options;
  const { id } = await sendText(options, "stream 30 2", true);
  await Promise.all([0, 1].map(() => noteAll(clients.next().subscribeToTask({ id }), ledger.stream(false))));
}

async function ask(options: LoadOptions): Promise<void> {
  const { id } = await sendText(options, "ask what it is");
  if (options.random.between(0, 1) === 1) await sendText(options, "this", false, id);
}

/** Answers a question of this round or an earlier one, perhaps at the same time as others: one of them is taken. */
async function answerSomebody(options: LoadOptions): Promise<void> {
  const { clients, random } = options;
  const { tasks } = await clients.next().listTasks({ status: TaskState.INPUT_REQUIRED, pageSize: 20 });
  if (tasks.length === 0) return;
  const { id } = pick(tasks, random);
  await sendText(options, "an answer", false, id);
}

async function cancel(options: LoadOptions): Promise<void> {
  const { clients, ledger } = options;
  const { id } = await sendText(
    options,
    options.random.between(0, 1) === 1 ? "sleep 3600000" : "ask nobody",
    true,
  );
  ledger.answer(await clients.next().cancelTask({ id }));
}

async function read({ clients, ledger, random }: LoadOptions): Promise<void> {
  const ids = [...ledger.tasks.keys()];
  if (ids.length > 0) ledger.answer(await clients.next().getTask({ id: pick(ids, random) }));
}

/**
 * Others answer, cancel and end the same tasks: whoever comes too late is told so by the right error, and goes on.
 *
 * @throws everything else
 */
function ignoreLostRace(error: unknown): void {
  const reason = findA2AError(error)?.reason;
  if (reason !== "UNSUPPORTED_OPERATION" && reason !== "TASK_NOT_CANCELABLE") throw error;
}
