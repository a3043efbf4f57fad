import { Readable } from "node:stream";
import type { AgentClient, FollowOptions, SendOptions, TaskStream } from "@a2a-connect/client";
import { isInterrupted, isSettled } from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import type { Task } from "@a2a-connect/proto";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { interruptedExitCode } from "../interrupts.ts";
import { defined } from "../json.ts";
import { readParts } from "../message-parts.ts";
import { createOutput } from "../output.ts";
import type { SendFlags } from "../send/send.ts";
import { detach } from "../task/early-end.ts";
import { followingOf } from "../task/following.ts";
import { saveArtifacts } from "../task/save-artifacts.ts";
import { ChatView } from "./chat-view.ts";
import { createPipedLines, Keyboard, type LineSource, SharedTerminal } from "./line-input.ts";
import { ChatSession } from "./session.ts";
import { type Entry, explainCommands, parseEntry } from "./slash-commands.ts";

type ChatFlags = Pick<SendFlags, "skill">;

/** A conversation: for a person where keyboard and screen are a terminal, else as text, a line a turn (a2a-cli §11.2). */
export async function startChat(context: CommandContext, flags: ChatFlags): Promise<void> {
  const { io, output, signal } = context;
  if (output.format === "json") {
    throw usageError(
      "chat has no -o json",
      "use a2a send -o json for one message; --context-id continues a conversation",
    );
  }
  const hasKeyboard = io.stdin.isTTY === true;
  const isSeen = hasKeyboard && io.stdout.isTerminal;
  if (hasKeyboard && !isSeen) {
    await output.warn(
      "the standard output is not a terminal, so chat does not read the keyboard; pipe lines into it",
    );
  }
  const agent = await context.openAgent();
  if (!isSeen) {
    // A keyboard whose user would not see what is asked gives no lines.
    using lines = createPipedLines(hasKeyboard ? Readable.from([]) : io.stdin, signal);
    return await new Conversation(context, agent, lines, new ChatView(context, output, false), flags).run();
  }
  const terminal = new SharedTerminal(io.stdout, () => keyboard.quiet());
  using keyboard = new Keyboard({
    stdin: io.stdin,
    terminal: process.stdout,
    signal,
    onTyping: () => void terminal.makeRoom().catch(() => {}), // no reader is left: the next line ends the chat
  });
  const seen = createOutput({ stdout: terminal, stderr: terminal, env: io.env }, context.settings);
  const view = new ChatView(context, seen, true);
  await view.greet(agent.card);
  await new Conversation(context, agent, keyboard, view, flags).run();
}

/**
 * One conversation with an agent: each line is a message, an answer, or a command. Context and waiting task are carried
 * from turn to turn (a2a-cli §8.1).
 */
class Conversation {
  readonly #context: CommandContext;
  readonly #agent: AgentClient;
  readonly #lines: LineSource;
  readonly #view: ChatView;
  readonly #left = new AbortController();
  /** Ends it all: a Ctrl-C, `--timeout`, `/quit`. */
  readonly #signal: AbortSignal;
  readonly #sending: SendOptions & FollowOptions;
  /** Lines for later that were typed while a task was at work. */
  readonly #queued: string[] = [];
  #session: ChatSession;
  #lastEventId: number | undefined;
  /** Commands that run beside a task, one after the other. */
  #beside: Promise<void> = Promise.resolve();

  constructor(
    context: CommandContext,
    agent: AgentClient,
    lines: LineSource,
    view: ChatView,
    { skill }: ChatFlags,
  ) {
    this.#context = context;
    this.#agent = agent;
    this.#lines = lines;
    this.#view = view;
    this.#session = new ChatSession(context.settings.contextId);
    this.#signal = AbortSignal.any([context.signal, lines.interrupted, this.#left.signal]);
    this.#sending = { ...followingOf(context), ...defined({ skill }), signal: this.#signal };
  }

  async run(): Promise<void> {
    const { taskId } = this.#context.settings;
    if (taskId !== undefined) await this.#follow(this.#agent.follow(taskId, { ...this.#sending, until }));
    while (!this.#signal.aborted) {
      const line = this.#queued.shift() ?? (await this.#lines.next(this.#prompt));
      if (line === undefined) break;
      const entry = parseEntry(line);
      await this.#attempt(() => (entry.kind === "message" ? this.#send(entry.text) : this.#obey(entry)));
    }
    this.#context.signal.throwIfAborted(); // a timeout is an error; after Ctrl-C the command ends quietly
  }

  get #prompt(): string {
    const { attachments, waiting } = this.#session;
    const attached = attachments.length === 0 ? "" : ` +${attachments.length}`;
    return `${waiting === undefined ? "you" : "answer"}${attached} › `;
  }

  async #send(words: string): Promise<void> {
    const { waitingForAuth, attachments } = this.#session;
    if (words === "" && waitingForAuth !== undefined) return await this.#awaitAuth(waitingForAuth.id);
    const message = this.#session.compose(words);
    if (message.parts.length === 0) return; // just Enter
    const { metadata } = this.#context.settings;
    const stream = this.#agent.stream({ ...message, ...defined({ metadata }) }, { ...this.#sending, until });
    this.#session.attachments = [];
    try {
      await this.#follow(stream);
    } catch (error) {
      if (stream.task === undefined) {
        // Nothing of it was taken.
        this.#session.attachments = [...attachments, ...this.#session.attachments];
      }
      throw error;
    }
  }

  /** The user gives the agent its credentials elsewhere; it goes on by itself. */
  async #awaitAuth(taskId: string): Promise<void> {
    let wentOn = false; // the same state again is another question
    const stream = this.#agent.follow(taskId, { ...this.#sending, ...defined({ after: this.#lastEventId }) });
    await this.#follow(stream, (now) => {
      wentOn ||= !isInterrupted(stateOf(now));
      return wentOn && isSettled(stateOf(now));
    });
  }

  async #follow(stream: TaskStream, isEnd: (task: Task) => boolean = () => false): Promise<void> {
    try {
      using _ = this.#lines.divert((line) => this.#interject(line));
      for await (const event of stream) {
        this.#session.follow(event, stream.task);
        await this.#view.event(event);
        if (stream.task !== undefined && isEnd(stream.task)) break;
      }
    } catch (error) {
      if (!this.#signal.aborted) throw error;
    } finally {
      this.#lastEventId = stream.lastEventId;
    }
    await this.#beside;
    await this.#view.settled(this.#signal.aborted ? undefined : stream.task);
    if (this.#signal.aborted) await this.#detach(stream);
  }

  /** A line in the middle of a task: commands are obeyed at once, the rest waits. */
  #interject(line: string): void {
    const entry = parseEntry(line);
    this.#beside = this.#beside.then(() =>
      this.#attempt(async () => {
        if (entry.kind === "message") {
          this.#queued.push(line);
          return await this.#view.say("your message is sent when the task has ended or waits for you");
        }
        const isNew = entry.kind === "command" && entry.name === "new";
        await (isNew ? this.#view.say("a task is running: /cancel it, or wait for it") : this.#obey(entry));
      }),
    );
  }

  async #obey(entry: Exclude<Entry, { readonly kind: "message" }>): Promise<void> {
    if (entry.kind === "mistake") return await this.#view.say(entry.sentence);
    const { task } = this.#session;
    switch (entry.name) {
      case "cancel":
        return await this.#cancel();
      case "attach":
        return await this.#attach(entry.argument);
      case "save":
        return await this.#save(entry.argument);
      case "task":
        return await (task === undefined ? this.#view.say("there is no task yet") : this.#view.task(task));
      case "new":
        this.#session = new ChatSession();
        return await this.#view.say("a new conversation");
      case "help":
        for (const line of explainCommands()) await this.#view.say(line);
        return;
      case "quit":
        this.#left.abort();
    }
  }

  async #cancel(): Promise<void> {
    const { open, waiting } = this.#session;
    if (open === undefined) return await this.#view.say("there is no task to cancel");
    const task = await this.#agent.cancelTask(open.id, { signal: this.#signal });
    this.#session.task = task;
    if (waiting !== undefined) await this.#view.task(task); // else its stream tells what becomes of it
  }

  async #attach(pathOrUrl: string): Promise<void> {
    const source = { kind: "file", value: pathOrUrl, mediaType: undefined } as const;
    const parts = await readParts([source], this.#context.io, this.#signal);
    this.#session.attachments = [...this.#session.attachments, ...parts];
    await this.#view.say(`${pathOrUrl} goes with the next message`);
  }

  /** @param directory relative to the working directory; empty: a new one */
  async #save(directory: string): Promise<void> {
    const { task } = this.#session;
    if (task === undefined || task.artifacts.length === 0) {
      return await this.#view.say("there are no artifacts to save");
    }
    const place = { cwd: this.#context.io.cwd, taskId: task.id, directory, signal: this.#signal };
    for await (const [, paths] of saveArtifacts(this.#agent.readArtifacts(task), place)) {
      for (const path of paths) await this.#view.say(`saved ${path}`);
    }
  }

  /** What fails ends the chat where the view says so. */
  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!this.#signal.aborted) await this.#view.failure(error);
    }
  }

  async #detach({ task, lastEventId }: TaskStream): Promise<void> {
    if (task !== undefined && isSettled(stateOf(task))) return;
    await detach(this.#context, task, lastEventId);
    if (!this.#left.signal.aborted) this.#context.exitWith(interruptedExitCode(this.#context.io.interrupted));
  }
}

/** A message is followed to where its task has ended or waits. */
const until = "settled";
