import { formatTaskState } from "@a2a-connect/core";
import { type AgentCard, type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import { describeFailure } from "../failures.ts";
import { toLine, toSentence } from "../output.ts";
import { stateOf } from "../task/following.ts";
import { describeSchema } from "./question.ts";
import type { Screen } from "./screen.ts";
import { formatEnd, type Shown, Transcript } from "./transcript.ts";

/** Shows a conversation. */
export interface ChatView {
  /** Called once, before the first line. */
  greet(): Promise<void>;
  /** One event of the agent. */
  event(event: StreamResponse): Promise<void>;
  /** What followed on a message is over; `task` is what it went to, unless that goes on without us. */
  settled(task: Task | undefined): Promise<void>;
  /** A task on request: its ids, its state, what it has. */
  task(task: Task): Promise<void>;
  /** Words of the chat itself. */
  say(sentence: string): Promise<void>;
  /**
   * Something went wrong. The chat goes on where this resolves.
   *
   * @throws the error, where the chat is to end with it
   */
  failure(error: unknown): Promise<void>;
}

/** The conversation for a person at a terminal. Everything from the agent is stripped of control sequences. */
export function createTerminalView(screen: Screen, card: AgentCard): ChatView {
  const transcript = new Transcript();
  let contextId = "";
  return {
    greet: async () => {
      await screen.line(toLine(card.name), "bold");
      if (card.description !== "") await screen.line(toLine(card.description), "dim");
      await screen.line("/help lists the commands, Ctrl-D ends the chat", "dim");
    },
    event: async (event) => {
      for (const shown of transcript.show(event)) await show(screen, shown);
    },
    settled: async (task) => {
      await screen.finish();
      if (task === undefined) return;
      await screen.line(toLine(`task ${task.id}`), "dim");
      if (task.contextId !== contextId) await screen.line(toLine(`context ${task.contextId}`), "dim");
      contextId = task.contextId;
    },
    task: (task) => showTask(screen, task),
    say: (sentence) => screen.line(sentence, "dim"),
    failure: async (error) => {
      const { message, hint } = await describeFailure(error, { hasCredentials: true });
      await screen.line(toSentence(`error: ${message}`), "red");
      if (hint !== null) await screen.line(hint, "dim");
    },
  };
}

async function show(screen: Screen, shown: Shown): Promise<void> {
  switch (shown.kind) {
    case "words":
    case "data":
      return await screen.line(shown.text);
    case "step":
      return await screen.line(shown.text, "dim");
    case "progress":
      return await screen.below(progressBar(shown.fraction, toLine(shown.text)));
    case "artifact":
      return await screen.line(`${toLine(shown.title)}${shown.continued ? ", continued" : ""}:`, "bold");
    case "chunk":
      return await screen.stream(shown.text);
    case "file": {
      const details = [shown.name || "unnamed", shown.mediaType, shown.size].filter((each) => each !== "");
      return await screen.line(toLine(`[${details.join(", ")}]`));
    }
    case "question":
      return await showQuestion(screen, shown);
    case "end": {
      const isGood = shown.state === TaskState.COMPLETED;
      if (shown.text !== "") await screen.line(shown.text);
      return await screen.line(`${isGood ? "✓" : "✗"} ${toLine(formatEnd(shown))}`, isGood ? "green" : "red");
    }
  }
}

async function showQuestion(
  screen: Screen,
  { wants, text, choices, schema }: Extract<Shown, { kind: "question" }>,
): Promise<void> {
  const words = wants === "auth" ? "The agent wants credentials." : "The agent waits for an answer.";
  await screen.line(text === "" ? words : text, "bold");
  for (const [index, choice] of choices.entries()) await screen.line(`  ${index + 1}. ${toLine(choice)}`);
  if (choices.length > 0) await screen.line("  answer with a number, or the words", "dim");
  if (schema !== undefined) await screen.line(toLine(`  answer as JSON: ${describeSchema(schema)}`), "dim");
  if (wants === "auth")
    await screen.line("  Enter waits until the agent has noticed, words are sent to it", "dim");
}

async function showTask(screen: Screen, task: Task): Promise<void> {
  await screen.line(toLine(`Task: ${task.id}`));
  await screen.line(toLine(`Context: ${task.contextId}`));
  await screen.line(`State: ${formatTaskState(stateOf(task))}`);
  for (const { artifactId, name, parts } of task.artifacts) {
    const count = parts.length === 1 ? "1 part" : `${parts.length} parts`;
    await screen.line(toLine(`Artifact: ${name || artifactId}, ${count}`));
  }
}

const cells = 20;
const full = "█";
const empty = "░";

/**
 * One line that says how far something is.
 *
 * @param fraction from 0 to 1; what lies outside is taken for the nearest of them
 * @param label what is being done
 */
export function progressBar(fraction: number, label: string): string {
  const known = Math.min(Math.max(fraction, 0), 1);
  const done = Math.floor(known * cells);
  const percent = `${Math.floor(known * 100)}%`.padStart(4);
  return `${full.repeat(done)}${empty.repeat(cells - done)} ${percent} ${label}`.trimEnd();
}
