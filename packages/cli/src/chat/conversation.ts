import { resolve } from "node:path";
import type { AgentClient, FollowOptions, SendOptions, TaskStream } from "@a2a-connect/client";
import { isInterrupted, isSettled } from "@a2a-connect/core";
import type { Task } from "@a2a-connect/proto";
import { orAborted } from "../agent/until-aborted.ts";
import type { CommandContext } from "../context.ts";
import { interruptedExitCode } from "../interrupts.ts";
import { readParts } from "../message-parts.ts";
import { detach, pollingOf, stateOf } from "../task/following.ts";
import type { LineSource } from "./keyboard.ts";
import {
  afterEvent,
  type ChatSession,
  composeMessage,
  createSession,
  openTask,
  waitingTask,
  waitsForAuth,
  withAttachments,
} from "./session.ts";
import { type Entry, explainCommands, parseEntry } from "./slash-commands.ts";
import type { ChatView } from "./terminal-view.ts";

/** What a conversation is held with. */
export interface ConversationOptions {
  readonly context: CommandContext;
  readonly agent: AgentClient;
  readonly lines: LineSource;
  readonly view: ChatView;
  /** Id of the skill that is to do what is asked. */
  readonly skill: string | undefined;
}

/**
 * One conversation with an agent: each line is a message, an answer, or a command. Context and waiting task are carried
 * from turn to turn (a2a-cli §8.1).
 */
export class Conversation {
  readonly #context: CommandContext;
  readonly #agent: AgentClient;
  readonly #lines: LineSource;
  readonly #view: ChatView;
  readonly #sending: SendOptions & FollowOptions;
  readonly #left = new AbortController();
  /** Lines for later that were typed while a task was at work. */
  readonly #queued: string[] = [];
  #session: ChatSession;
  #lastEventId: number | undefined;
  /** Commands that run beside a task, one after the other. */
  #beside: Promise<void> = Promise.resolve();

  constructor({ context, agent, lines, view, skill }: ConversationOptions) {
    this.#context = context;
    this.#agent = agent;
    this.#lines = lines;
    this.#view = view;
    this.#session = createSession(context.settings.contextId);
    this.#sending = {
      ...pollingOf(context.settings),
      until: "settled",
      signal: AbortSignal.any([context.signal, lines.interrupted, this.#left.signal]),
      ...(skill === undefined ? {} : { skill }),
    };
  }

  /** Takes lines until there are none, somebody quits or interrupts. */
  async run(): Promise<void> {
    await this.#view.greet();
    await this.#resume(this.#context.settings.taskId);
    while (!this.#isLeft) {
      const line = this.#queued.shift() ?? (await this.#lines.next(this.#prompt));
      if (line === undefined) break;
      await this.#attempt(() => this.#enter(line));
    }
    this.#context.signal.throwIfAborted(); // a timeout is an error; after Ctrl-C the command ends quietly
  }

  get #isLeft(): boolean {
    return this.#sending.signal?.aborted === true;
  }

  get #prompt(): string {
    const files = this.#session.attachments.length;
    const attached = files === 0 ? "" : ` +${files}`;
    return `${waitingTask(this.#session) === undefined ? "you" : "answer"}${attached} › `;
  }

  /** `--task-id`: goes on with a task that is there. */
  async #resume(taskId: string | undefined): Promise<void> {
    if (taskId !== undefined) await this.#follow(this.#agent.follow(taskId, this.#sending));
  }

  async #enter(line: string): Promise<void> {
    const entry = parseEntry(line);
    await (entry.kind === "message" ? this.#send(entry.text) : this.#obey(entry));
  }

  async #send(words: string): Promise<void> {
    if (words === "" && waitsForAuth(this.#session)) return await this.#awaitAuth();
    const message = composeMessage(this.#session, words);
    if (message.parts.length === 0) {
      return; // just Enter
    }
    const { attachments } = this.#session;
    const { metadata } = this.#context.settings;
    const stream = this.#agent.stream(
      { ...message, ...(metadata === undefined ? {} : { metadata }) },
      this.#sending,
    );
    this.#session = withAttachments(this.#session, []);
    try {
      await this.#follow(stream);
    } catch (error) {
      if (stream.task === undefined) {
        // Nothing of it was taken.
        this.#session = withAttachments(this.#session, [...attachments, ...this.#session.attachments]);
      }
      throw error;
    }
  }

  /** Somebody gives the agent its credentials elsewhere; it goes on by itself. */
  async #awaitAuth(): Promise<void> {
    const task = waitingTask(this.#session);
    if (task !== undefined) {
      const after = this.#lastEventId === undefined ? {} : { after: this.#lastEventId };
      const { until: _, ...following } = this.#sending;
      let wentOn = false; // the same state again is another question
      await this.#follow(this.#agent.follow(task.id, { ...following, ...after }), (now) => {
        wentOn ||= !isInterrupted(stateOf(now));
        return wentOn && isSettled(stateOf(now));
      });
    }
  }

  /** Shows what comes, and takes commands beside it. */
  async #follow(stream: TaskStream, isEnd: (task: Task) => boolean = () => false): Promise<void> {
    try {
      using _ = this.#lines.divert((line) => this.#interject(line));
      for await (const event of stream) {
        await this.#lines.quiet();
        this.#session = afterEvent(this.#session, event, stream.task);
        await this.#view.event(event);
        if (stream.task !== undefined && isEnd(stream.task)) break;
      }
    } catch (error) {
      if (!this.#isLeft) throw error;
    } finally {
      this.#lastEventId = stream.lastEventId;
    }
    await this.#beside;
    await this.#view.settled(this.#isLeft ? undefined : stream.task);
    if (this.#isLeft) await this.#detach(stream);
  }

  /** A line in the middle of a task: commands are obeyed at once, the rest waits. */
  #interject(line: string): void {
    const entry = parseEntry(line);
    this.#beside = this.#beside.then(() =>
      this.#attempt(async () => {
        if (entry.kind === "message") {
          this.#queued.push(line);
          return await this.#view.say("this is sent when the task has settled");
        }
        const isNew = entry.kind === "command" && entry.name === "new";
        await (isNew ? this.#view.say("a task is at work: /cancel it, or wait for it") : this.#obey(entry));
      }),
    );
  }

  async #obey(entry: Exclude<Entry, { readonly kind: "message" }>): Promise<void> {
    if (entry.kind === "mistake") return await this.#view.say(entry.sentence);
    const { name, argument } = entry;
    switch (name) {
      case "cancel":
        return await this.#cancel();
      case "attach":
        return await this.#attach(argument);
      case "save":
        return await this.#save(argument === "" ? "." : argument);
      case "task":
        return await this.#show();
      case "new":
        this.#session = createSession();
        return await this.#view.say("a new conversation");
      case "help":
        for (const line of explainCommands()) await this.#view.say(line);
        return;
      case "quit":
        this.#left.abort();
    }
  }

  async #cancel(): Promise<void> {
    const open = openTask(this.#session);
    if (open === undefined) return await this.#view.say("there is no task to cancel");
    const isFollowed = waitingTask(this.#session) === undefined; // then its stream tells what becomes of it
    const task = await this.#agent.cancelTask(open.id, { signal: this.#signal });
    this.#session = { ...this.#session, task };
    if (!isFollowed) await this.#view.task(task);
  }

  async #attach(pathOrUrl: string): Promise<void> {
    const parts = await readParts(
      [{ kind: "file", value: pathOrUrl, mediaType: undefined }],
      this.#context.io,
      this.#signal,
    );
    this.#session = withAttachments(this.#session, [...this.#session.attachments, ...parts]);
    await this.#view.say(`${pathOrUrl} goes with the next message`);
  }

  async #save(directory: string): Promise<void> {
    const { task } = this.#session;
    if (task === undefined || task.artifacts.length === 0) {
      return await this.#view.say("there are no artifacts to save");
    }
    for (const reader of this.#agent.readArtifacts(task)) {
      for (const path of await orAborted(
        this.#signal,
        reader.save(resolve(this.#context.io.cwd, directory)),
      )) {
        await this.#view.say(`saved ${path}`);
      }
    }
  }

  async #show(): Promise<void> {
    const { task } = this.#session;
    await (task === undefined ? this.#view.say("there is no task yet") : this.#view.task(task));
  }

  /** What fails ends the chat where the view says so. */
  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!this.#isLeft) await this.#view.failure(error);
    }
  }

  async #detach({ task, lastEventId }: TaskStream): Promise<void> {
    if (task !== undefined && isSettled(stateOf(task))) return;
    await detach(this.#context, task, lastEventId);
    if (!this.#left.signal.aborted) this.#context.exitWith(interruptedExitCode(this.#context.io.interrupted));
  }

  get #signal(): AbortSignal {
    return this.#sending.signal ?? this.#left.signal;
  }
}
