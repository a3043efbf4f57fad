import type { Receiver } from "@a2a-connect/conformance";
import { findA2AError, isTerminal } from "@a2a-connect/core";
import { idempotencyKeyHeader } from "@a2a-connect/core/internal";
import { StreamResponseSchema, type Task, TaskState } from "@a2a-connect/proto";
import { type A2AClient, say, taskOf } from "@a2a-connect/testing";
import { equals } from "@bufbuild/protobuf";
import type { Command } from "./fault-agent.ts";
import type { Random } from "./random.ts";
import { type Service, wireNames } from "./service.ts";
import { follow, sendAndFollow, stateOf, type Transcript } from "./transcript.ts";

/** What the scenario is played with. */
export interface ScenarioOptions {
  readonly service: Service;
  /** Chooses a wire for every call. */
  readonly random: Random;
  readonly webhooks: Receiver;
}

/** What was seen while it was played. */
export interface Played {
  /** Every task to its end, by the command that it was made for. */
  readonly transcripts: ReadonlyMap<Command, Transcript>;
  /** Problems that showed on the way: one sentence each. */
  readonly problems: readonly string[];
}

type Request = ReturnType<typeof say> & {
  readonly configuration?: {
    readonly returnImmediately?: boolean;
    readonly taskPushNotificationConfig?: { readonly id: string; readonly url: string };
  };
};

interface Sent {
  readonly request: Request;
  readonly key: string;
  /** The task that it led to, or the id of the message that answered it. */
  readonly outcome: string;
}

/**
 * Plays everything that a store is written for, one after the other, always the same: streams, steps, questions and their
 * answers, messages to a task at work, a cancel, direct replies, webhooks.
 */
export async function playScenario(options: ScenarioOptions): Promise<Played> {
  const play = new Play(options);
  const transcripts = new Map<Command, Transcript>();
  for (const command of ["stream", "steps", "turn", "restart"] as const) {
    transcripts.set(command, await play.stream(command, command === "stream"));
  }
  transcripts.set("ask", await play.ask());
  transcripts.set("inbox", await play.inbox());
  transcripts.set("sleep", await play.cancel());
  await play.reply();
  await play.checkWebhooks(transcripts);
  await play.checkSends(transcripts.size);
  await play.checkReplays(transcripts);
  return { transcripts, problems: play.problems };
}

/** One performance. */
class Play {
  readonly problems: string[] = [];
  readonly #options: ScenarioOptions;
  /** All tasks of one performance are in one context, where they can be counted. */
  readonly #contextId = crypto.randomUUID();
  readonly #sent: Sent[] = [];

  constructor(options: ScenarioOptions) {
    this.#options = options;
  }

  /** A task that needs no further word from its caller. */
  async stream(command: Command, withWebhook: boolean): Promise<Transcript> {
    const key = crypto.randomUUID();
    const request = this.#say(command);
    const configuration = { taskPushNotificationConfig: { id: "inline", url: this.#webhook(command) } };
    const sent = withWebhook ? { ...request, configuration } : request;
    const transcript = await sendAndFollow(this.#options.service, sent, { wire: this.#wire(), key });
    this.#sent.push({ request: sent, key, outcome: transcript.taskId });
    return transcript;
  }

  /** A task that asks twice, is given a wrong answer once, and has a webhook from the first question on. */
  async ask(): Promise<Transcript> {
    const asked = await this.stream("ask", false);
    const { taskId } = asked;
    const config = { taskId, id: "later", url: this.#webhook("ask") };
    await this.#persist((client) => client.createTaskPushNotificationConfig(config));
    await this.#send("perhaps", taskId);
    await this.#send("yes", taskId);
    await this.#send("done", taskId);
    return this.#follow(taskId, asked);
  }

  /** A task that is told something while it works. */
  async inbox(): Promise<Transcript> {
    const taskId = await this.#send("inbox", undefined, true);
    const begun = await this.#followUntil(taskId, TaskState.WORKING);
    await this.#send("one", taskId, true);
    await this.#send("two", taskId, true);
    return this.#follow(taskId, begun);
  }

  /** A task that is canceled while it sleeps. */
  async cancel(): Promise<Transcript> {
    const id = await this.#send("sleep", undefined, true);
    const begun = await this.#followUntil(id, TaskState.WORKING);
    const canceled = await this.#persist((client) =>
      client.cancelTask({ id }).catch((error: unknown): Promise<Task> => {
        // An earlier attempt may have been taken: then the task has ended as it was told to.
        if (findA2AError(error)?.reason !== "TASK_NOT_CANCELABLE") throw error;
        return client.getTask({ id });
      }),
    );
    if (canceled.status?.state !== TaskState.CANCELED) this.problems.push("a cancel was not kept to");
    return this.#follow(id, begun);
  }

  /** A direct Message. */
  async reply(): Promise<void> {
    const request = this.#say("reply");
    const key = crypto.randomUUID();
    this.#sent.push({ request, key, outcome: await this.#outcome(request, key) });
  }

  /** Every webhook has been told of every event, in order. Waits until it has. */
  async checkWebhooks(transcripts: ReadonlyMap<Command, Transcript>): Promise<void> {
    const { webhooks } = this.#options;
    for (const command of ["stream", "ask"] as const) {
      const last = transcripts.get(command)?.events.length ?? 0;
      const path = new URL(this.#webhook(command)).pathname;
      const idsOf = () =>
        webhooks.requests.filter((each) => each.path === path).map(({ eventId }) => eventId);
      await webhooks.until(() => idsOf().includes(last));
      // The webhook of `ask` was made when that had come to its question, which is its second event.
      this.problems.push(
        ...findDisorder(idsOf(), command === "stream" ? 1 : 3).map((at) => `${command}: ${at}`),
      );
      const taskId = transcripts.get(command)?.taskId ?? "";
      const id = command === "stream" ? "inline" : "later";
      await this.#persist((client) => client.deleteTaskPushNotificationConfig({ taskId, id }));
    }
  }

  /** Every request that is repeated once more leads to where it led, and to nothing new. */
  async checkSends(tasks: number): Promise<void> {
    for (const { request, key, outcome } of this.#sent) {
      const repeated = await this.#outcome(request, key);
      if (repeated !== outcome)
        this.problems.push(`a repeated request led to ${repeated}, not to ${outcome}`);
    }
    const { totalSize } = await this.#persist((client) => client.listTasks({ contextId: this.#contextId }));
    if (totalSize !== tasks) this.problems.push(`there are ${totalSize} tasks, and ${tasks} were asked for`);
  }

  /** What was seen over many connections is what anybody is shown who reads it now. */
  async checkReplays(transcripts: ReadonlyMap<Command, Transcript>): Promise<void> {
    for (const [command, { taskId, events }] of transcripts) {
      const { events: replayed } = await follow(this.#options.service, taskId, { wire: this.#wire() });
      const same =
        events.length === replayed.length &&
        events.every((event, index) => equals(StreamResponseSchema, event, replayed[index] ?? event));
      if (!same)
        this.problems.push(`${command}: its ${events.length} events are not its ${replayed.length} now`);
    }
  }

  /** Sends a message with a key until it is taken. @returns the id of its task */
  async #send(words: string, taskId: string | undefined, returnImmediately = false): Promise<string> {
    const request = { ...this.#say(words, taskId), configuration: { returnImmediately } };
    const key = crypto.randomUUID();
    const outcome = await this.#outcome(request, key);
    this.#sent.push({ request, key, outcome });
    return outcome;
  }

  async #outcome(request: Request, key: string): Promise<string> {
    const answer = await this.#persist((client) =>
      client.sendMessage(request, { headers: { [idempotencyKeyHeader]: key } }),
    );
    return answer.payload.case === "message" ? answer.payload.value.messageId : taskOf(answer).id;
  }

  #follow(taskId: string, seen: Transcript): Promise<Transcript> {
    return follow(this.#options.service, taskId, { wire: this.#wire(), seen });
  }

  #followUntil(taskId: string, state: TaskState): Promise<Transcript> {
    const until = (event: Transcript["events"][number]) =>
      stateOf(event) === state || isTerminal(stateOf(event));
    return follow(this.#options.service, taskId, { wire: this.#wire(), until });
  }

  #persist<T>(call: (client: A2AClient) => Promise<T>): Promise<T> {
    return this.#options.service.persist(this.#wire(), call);
  }

  #wire(): string {
    return wireNames[this.#options.random.between(0, wireNames.length - 1)] ?? "gRPC";
  }

  #webhook(command: Command): string {
    return `${this.#options.webhooks.url}/${this.#contextId}/${command}`;
  }

  #say(words: string, taskId?: string): Request {
    const messageId = crypto.randomUUID();
    return say(words, { messageId, contextId: this.#contextId, ...(taskId === undefined ? {} : { taskId }) });
  }
}

/** Events are told from `first` on, in order; the newest may be told again, because nobody knew that it had been. */
function findDisorder(ids: readonly number[], first: number): readonly string[] {
  let next = first;
  return ids.flatMap((id) => {
    if (id === next) {
      next += 1;
      return [];
    }
    return id === next - 1 && id >= first ? [] : [`event ${id} came to the webhook where ${next} was due`];
  });
}
