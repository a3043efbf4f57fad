import { isInterrupted } from "@a2a-connect/core";
import { statusOfEvent } from "@a2a-connect/core/internal";
import type { AgentCard, StreamResponse, Task, TaskStatus } from "@a2a-connect/proto";
import type { CommandContext } from "../context.ts";
import { describeFailure } from "../failures.ts";
import { type Output, toLine, toText } from "../output.ts";
import { EventPrinter } from "../render/event-printer.ts";
import { renderTask } from "../render/task-text.ts";
import { reportTask } from "../task/report.ts";
import { describeSchema, questionOf } from "./question.ts";

/**
 * What a conversation shows: events as `send --stream` prints them (a2a-cli §11.2). A person at a terminal sees questions with the
 * answers that fit, and goes on after a failure. To a program each turn ends as `send` does, and the first failure ends them all.
 */
export class ChatView {
  readonly #context: CommandContext;
  readonly #output: Output;
  readonly #printer: EventPrinter;
  readonly #isSeen: boolean;

  /** @param isSeen whether a person reads it who can answer */
  constructor(context: CommandContext, output: Output, isSeen: boolean) {
    this.#context = context;
    this.#output = output;
    this.#printer = new EventPrinter(output);
    this.#isSeen = isSeen;
  }

  /** To be called once, before the first line. */
  async greet({ name }: AgentCard): Promise<void> {
    await this.#line(this.#output.paint("bold", toLine(name)));
    await this.say("/help lists the commands, Ctrl-D ends the chat");
  }

  async event(event: StreamResponse): Promise<void> {
    const status = statusOfEvent(event);
    const isQuestion = this.#isSeen && status !== undefined && isInterrupted(status.state);
    if (!isQuestion || event.payload.case === "task") await this.#printer.print(event);
    if (isQuestion) await this.#ask(status);
  }

  /** What followed on a message is over; `task` is what it went to, unless that goes on without us. */
  async settled(task: Task | undefined): Promise<void> {
    await this.#printer.end();
    await this.#output.progress(undefined);
    if (task !== undefined && !this.#isSeen) await reportTask(this.#context, task);
  }

  /** A task on request: its ids, its state, what it has. */
  async task(task: Task): Promise<void> {
    await this.#printer.end();
    await renderTask(this.#output, task);
  }

  async say(sentence: string): Promise<void> {
    await this.#printer.end();
    await this.#output.note(sentence);
  }

  /** Something went wrong. The chat goes on where this resolves. @throws the error, where the chat is to end with it */
  async failure(error: unknown): Promise<void> {
    if (!this.#isSeen) throw error;
    const { message, hint } = await describeFailure(error, { hasCredentials: true });
    await this.say(`error: ${message}`);
    if (hint !== null) await this.say(`hint: ${hint}`);
  }

  async #ask(status: TaskStatus): Promise<void> {
    const { kind, text, choices = [], schema } = questionOf(status);
    const words = kind === "auth" ? "The agent wants credentials." : "The agent waits for an answer.";
    await this.#line(this.#output.paint("bold", toText(text) || words));
    for (const [index, choice] of choices.entries()) await this.#line(`  ${index + 1}. ${toLine(choice)}`);
    if (choices.length > 0) await this.say("  answer with a number, or in words");
    if (schema !== undefined) await this.say(`  answer as JSON: ${toLine(describeSchema(schema))}`);
    if (kind === "auth") await this.say("  sign in, then press Enter to wait; other text goes to the agent");
  }

  async #line(text: string): Promise<void> {
    await this.#printer.end();
    await this.#output.write(`${text}\n`);
  }
}
