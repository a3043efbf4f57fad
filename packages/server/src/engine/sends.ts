import { nextSlice } from "@a2a-connect/bindings/server";
import { invalidParams, isInterrupted, isTerminal } from "@a2a-connect/core";
import {
  constantTimeEqual,
  decodeMessage,
  encodeDeterministically,
  encodeMessage,
  type Holding,
  isLarge,
  lastEventIdHeader,
  type SharedBudget,
  untilAborted,
} from "@a2a-connect/core/internal";
import { type Message, MessageSchema, type Task, TaskSchema } from "@a2a-connect/proto";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import {
  assertInputModes,
  type DurableSelection,
  isDurable,
  isRemoved,
  readLifecycleRequest,
  runsAgain,
  type SkillSelection,
  selectSkill,
  selectSkillById,
  skillMetadata,
  type TurnSelection,
} from "../agent/skill-selection.ts";
import type { KeyedTask, Owner, RequestKey } from "../store/task-store.ts";
import { type CallDetails, hasDetails } from "./command.ts";
import { type QueuedMessage, readUntaken, type StoredMessage } from "./durable/journal.ts";
import type { EngineContext } from "./engine-context.ts";
import { submittedStatus, type TaskName, taskEvent } from "./events.ts";
import type { Executions } from "./executions.ts";
import { KeyedSends } from "./keyed-sends.ts";
import { LiveTask } from "./live-task.ts";
import type { Caller, Held, HeldTasks, LiveTasks } from "./live-tasks.ts";
import { callBytes, taskBytes, weighDetails, weighMessage } from "./memory-weight.ts";
import { QueuedHandle, type SeenTask, type Sent, type TaskHandle } from "./task-handle.ts";
import type { Intake } from "./task-messages.ts";
import { readDeadline } from "./timers.ts";

/** A skill, and the scopes that it asks its callers for. */
interface SkillScopes {
  readonly id: string;
  readonly scopes: readonly string[];
}

/** A caller's message and its options. */
export interface SendInput extends Caller, Intake {
  readonly message: Message;
  readonly metadata: JsonObject | undefined;
  readonly acceptedOutputModes: readonly string[];
  readonly extensions: readonly string[];
  /** What the caller's credentials say beyond its identity. */
  readonly credentials?: CallDetails["caller"];
  /** Throws when the caller may not send messages to the skill. */
  readonly assertSkill?: ((skill: SkillScopes) => void) | undefined;
  /** The generation of the named task that the caller knows; undefined accepts any (requirement R-4). */
  readonly ifGenerationMatch?: bigint | undefined;
  /** The last event that the caller has of the stream which this request opened before (requirement A-36). */
  readonly lastEventId?: number | undefined;
  /**
   * Reserves room for the push configs at the task that the message names, until the returned function is called;
   * throws when there is none.
   */
  readonly reserveConfigs?: (() => Promise<() => void>) | undefined;
}

/** A message that names no task, and the task that may be made of it. */
interface FirstMessage {
  readonly owner: Owner;
  readonly name: TaskName;
  readonly agent: AgentDefinition;
  /** As the task keeps it: with the ids of both. */
  readonly message: Message;
  readonly input: SendInput;
  /** What the message takes until its task has it. */
  readonly memory: Holding;
}

/** A message that a call has. */
interface Sending {
  readonly input: SendInput;
  /** What it takes in memory, with what came with it. */
  readonly bytes: number;
  /** So much counts for the call whenever it waits, until a task or the handle of a repeat has the message. */
  readonly memory: Holding;
}

/** Weight of a message that is weighed in a turn of its own, and what it counts at least until then. */
const largeBytes = 256 * 1024;

/** Memory of a message, with what came with it, that is encoded in a turn of its own. No body of 64 KiB makes one. */
const slowBytes = 2 * 2 ** 20;

/**
 * A caller with more than so many times its part of the memory sends nothing with a key: direct Messages that wait to be stored have no
 * task that could be held back, and are not refused when the code has made them.
 */
const timesForReplies = 2;

/** Takes messages: each starts a task, or continues the one that it names. */
export class Sends {
  readonly #context: EngineContext;
  readonly #tasks: LiveTasks;
  readonly #held: HeldTasks;
  readonly #executions: Executions;
  readonly #keyed: KeyedSends;
  readonly #active: SharedBudget;

  /** @param active counts the bytes of the tasks that are at work, by caller */
  constructor(
    context: EngineContext,
    tasks: LiveTasks,
    held: HeldTasks,
    executions: Executions,
    active: SharedBudget,
  ) {
    this.#context = context;
    this.#tasks = tasks;
    this.#held = held;
    this.#executions = executions;
    this.#keyed = new KeyedSends(context);
    this.#active = active;
  }

  /**
   * Starts a task, or continues the one that the message names. Resolves when that is durable, or with the agent's
   * direct Message. The caller must release a returned handle.
   *
   * With a key, the message is taken once: a repeat gets the first one's result (docs/idempotency.md).
   *
   * @param readKey gives the key of a request that may have one
   * @throws ConnectError TASK_NOT_FOUND, UNSUPPORTED_OPERATION, CONTENT_TYPE_NOT_SUPPORTED, CAPACITY, InvalidArgument,
   *   IDEMPOTENCY_CONFLICT, or Internal when the executor failed before there was a task
   */
  async send(input: SendInput, readKey?: () => Promise<RequestKey | undefined>): Promise<Sent> {
    const memory = this.#active.open(input.share);
    try {
      const bytes = isLarge(input.message, largeBytes)
        ? await weighInSlices(input, memory)
        : weighInput(input);
      const sending = { input, bytes, memory };
      if (readKey === undefined) return await this.#take(sending);
      count(sending);
      const key = await readKey();
      return key === undefined ? await this.#take(sending) : await this.#takeOnce(sending, key);
    } finally {
      memory.end();
    }
  }

  #takeOnce({ input: keyless, bytes, memory }: Sending, key: RequestKey): Promise<Sent> {
    const input = { ...keyless, key };
    const sending = { input, bytes, memory };
    return this.#keyed.send({
      owner: input.owner,
      key,
      caller: input,
      take: async () => {
        this.#active.assertWithin(input.share, timesForReplies);
        try {
          const sent = await this.#take(sending);
          if (sent.kind === "message") memory.grow(2 * weighMessage(sent.message)); // it waits, with its encoding, to be stored
          return sent;
        } catch (error) {
          memory.grow(bytes - memory.amount); // a task may have had it that was lost, and the call goes on
          throw error;
        }
      },
      repeat: (result) => this.#repeat(sending, result),
      hold: () => {
        const waiting = this.#active.open(input.share);
        waiting.add(callBytes);
        return waiting;
      },
    });
  }

  /** A task for a repeat, whose message counts until it is released: unlike the first's, it is no part of the task. */
  async #acquireForRepeat({ input, bytes, memory }: Sending, taskId: string): Promise<Held> {
    const held = await this.#held.acquire(input, taskId);
    memory.grow(bytes - memory.amount);
    const kept = memory.move();
    const release = () => {
      kept.end();
      held.release();
    };
    return { ...held, release };
  }

  #take(sending: Sending): Promise<Sent> {
    const { message, lastEventId } = sending.input;
    const isPlain = message.taskId === "" && lastEventId === undefined;
    return isPlain ? this.#begin(sending) : this.#takeOther(sending);
  }

  /** A message that names a task, or resumes a stream. */
  async #takeOther(sending: Sending): Promise<Sent> {
    const { key, lastEventId, message, reserveConfigs } = sending.input;
    if (lastEventId !== undefined && (key === undefined || lastEventId > 0)) {
      throw invalidParams({
        field: lastEventIdHeader,
        description: "resumes a stream that was opened with the same idempotency key, and there is none",
      });
    }
    if (message.taskId === "") {
      return this.#begin(sending);
    }
    count(sending);
    const release = await reserveConfigs?.();
    try {
      return await this.#continue(sending);
    } finally {
      release?.();
    }
  }

  /** What a repeated request is given. One that created its task begins with its creation, as the first did. */
  async #repeat(sending: Sending, result: KeyedTask): Promise<Sent> {
    const { input } = sending;
    const { taskId, generation } = result;
    const lastEventId = input.lastEventId ?? (generation === 0 ? 0 : undefined);
    const held = await this.#acquireForRepeat(sending, taskId);
    const { live } = held;
    const handle = this.#held.attach(held, generation, lastEventId);
    const message = { ...input.message, contextId: live.name.contextId };
    return message.taskId === ""
      ? handle
      : new QueuedHandle(handle, () => this.#assertTaken(live, message, input));
  }

  /**
   * Whether the turn for a message that was taken before, maybe by another process, has begun. The log knows: a task
   * that is read anew has no queue in memory.
   *
   * @throws ConnectError UNSUPPORTED_OPERATION when it was queued, and the task has ended without it
   */
  async #assertTaken(live: LiveTask, message: Message, caller: Caller): Promise<void> {
    if (!live.ended) {
      return;
    }
    const { share } = caller;
    const { owner, name } = live;
    const queued = await this.#context.reads.tasks.read({ owner, taskId: name.taskId }, caller, async () => {
      const untaken = await readUntaken(this.#context, owner, name.taskId, share);
      return findSame(untaken, message, share);
    });
    if (queued !== undefined) {
      live.messages.queue.requeue([{ sequence: queued.sequence, message }]);
      live.messages.assertTaken(queued.sequence);
    }
  }

  async #begin(sending: Sending): Promise<Sent> {
    const { input, memory } = sending;
    const { owner, message, share } = input;
    this.#context.stored.assertRoom(share, this.#context);
    const { randomId, served } = this.#context;
    const agent = served.current;
    const selection = selectSkill(agent, message);
    assertSkill(input, selection);
    assertInputModes(message, selection.inputModes);
    const name = { taskId: randomId(), contextId: message.contextId || randomId() };
    const first: FirstMessage = { owner, name, agent, message: { ...message, ...name }, input, memory };
    count(sending, taskBytes);
    if (sending.bytes > slowBytes) await nextSlice(share, "message"); // encoding it takes as long as weighing it
    return isDurable(selection) ? this.#beginDurable(first, selection) : this.#beginTurn(first, selection);
  }

  /** The task of a first message. */
  #createTask(first: FirstMessage, selection: SkillSelection): LiveTask {
    const { name, message, input } = first;
    const metadata = skillMetadata(selection.skill);
    const task = create(TaskSchema, {
      id: name.taskId,
      contextId: name.contextId,
      status: submittedStatus(this.#context.clock.now()),
      history: [message],
      ...(metadata === undefined ? {} : { metadata }),
    });
    const live = this.#adopt(first, task);
    const details = detailsOf(input);
    if (runsAgain(selection) && hasDetails(details)) {
      live.note({ type: "call", ...details });
    }
    return live;
  }

  /** The task has the memory of its message from now on. */
  #adopt({ owner, agent, input, memory: ofCall }: FirstMessage, task: Task): LiveTask {
    const memory = ofCall.move();
    try {
      const origin = { agent, owner, memory, caller: input.share };
      const live = LiveTask.create(this.#context, origin, taskEvent(task), input);
      this.#tasks.adopt(live);
      return live;
    } catch (error) {
      memory.end();
      throw error;
    }
  }

  /** A durable task exists before its executor runs. */
  async #beginDurable(first: FirstMessage, selection: DurableSelection): Promise<Sent> {
    const { input, message } = first;
    const { share } = input;
    this.#executions.assertRoom({ skill: selection.skill, share }); // a task that exists cannot be refused with an error any more
    const live = this.#createTask(first, selection);
    const execution = this.#executions.createDurable(live, selection, message, detailsOf(input), share);
    this.#executions.track(live, execution);
    if (this.#isLate(message)) {
      execution.abort("deadline"); // its code is never called
    }
    const place = this.#executions.start(execution);
    if (typeof place === "object" && !isTerminal(live.acceptedState)) {
      live.emitStatus(place.refused);
      execution.giveUp();
    }
    await live.flushed();
    return this.#held.handleOfNew(live, input);
  }

  /** The task is created when the code yields something that is not a direct Message, or nothing for a while. */
  async #beginTurn(first: FirstMessage, selection: TurnSelection): Promise<Sent> {
    const { owner, name, input, message } = first;
    const execution = this.#executions.createTurn(
      { owner, name, create: () => this.#createTask(first, selection) },
      { selection, message, details: detailsOf(input), share: input.share },
    );
    if (this.#isLate(message)) {
      execution.abort("deadline"); // its code is never called
    }
    const started = this.#executions.start(execution);
    if (typeof started === "object") {
      execution.taskOrNew().emitStatus(started.refused);
      execution.giveUp();
    } else if (started === "queued") {
      execution.wait();
    }
    const outcome = await execution.outcome();
    return outcome.kind === "message" ? outcome : this.#held.handleOfNew(outcome.live, input);
  }

  /** Whether the message's deadline is over before any work. */
  #isLate(message: Message): boolean {
    const deadline = readDeadline({ history: [message] });
    return deadline !== undefined && deadline <= this.#context.clock.now();
  }

  async #continue(sending: Sending): Promise<Sent> {
    const { input, memory } = sending;
    const { message } = input;
    this.#context.stored.assertRoom(input.share, this.#context);
    const acquired = await this.#held.acquire(input, message.taskId);
    const { live, release: releaseTask } = acquired; // alone: the rest has the message, and the call may go on for hours
    /** What no task keeps, and the call has until it ends. */
    const call = this.#active.open(input.share);
    const release = () => {
      call.end();
      releaseTask();
    };
    const held = { ...acquired, release };
    let [given, counted] = [0, 0];
    try {
      const { contextId } = live.name;
      if (message.contextId !== "" && message.contextId !== contextId) {
        throw invalidParams({
          field: "message.contextId",
          description: "is not the context of message.taskId",
        });
      }
      await untilAborted(live.claim(input.share), input.signal?.());
      if (sending.bytes > slowBytes) {
        await sliceOf(input); // others may have waited with it, and go on in the same turn
        await untilAborted(live.claim(input.share), input.signal?.());
      }
      live.messages.assertGeneration(input.ifGenerationMatch);
      live.messages.assertGoing();
      const selection = selectSkillById(live.agent, live.skill);
      const { code, inputModes } = selection;
      assertSkill(input, selection);
      const isQueued = code.whileWorking === "queue" && !isInterrupted(live.acceptedState);
      if (!isQueued) {
        live.messages.assertInterrupted();
      }
      readLifecycleRequest(message);
      if (!isRemoved(live.agent, live.skill)) {
        assertInputModes(message, inputModes); // a missing skill has no list of modes
      }
      given = memory.amount;
      memory.grow(-given); // it becomes the task's
      // A durable executor takes messages alone from its inbox. What came with them would stay in the log of a task that lasts.
      const isAlone = isQueued && isDurable(selection);
      if (isAlone) call.add(weighDetails(detailsOf(input)));
      const details = isAlone ? {} : detailsOf(input);
      const bytes = weighMessage(message) + weighDetails(details);
      live.memory.add(bytes);
      counted = bytes;
      const named = { ...message, contextId };
      return isQueued
        ? await this.#queue(held, named, input, details)
        : await this.#answer(held, named, input, details);
    } catch (error) {
      live.memory.grow(-counted);
      memory.grow(given);
      // The refusal depends on accepted entries: the caller must not learn of them before they are durable.
      await live.flushed().finally(release);
      throw error;
    }
  }

  /** The task waits for this message. */
  async #answer(held: Held, message: Message, input: SendInput, details: CallDetails): Promise<TaskHandle> {
    const { live } = held;
    const isKept = runsAgain(selectSkillById(live.agent, live.skill)) && hasDetails(details);
    const kept = isKept ? details : undefined;
    const { answer, generation } = live.messages.answer(message, input, kept, input.ifGenerationMatch);
    const seen = await this.goOn(live, { ...answer, details }, input.share);
    return this.#held.handle(held, generation, seen);
  }

  /** The executor goes on with an accepted answer, when that is durable. @returns the task as of the answer */
  async goOn(live: LiveTask, answer: QueuedMessage, share: string | undefined): Promise<SeenTask> {
    const free = this.#executions.reserve(live);
    try {
      await live.flushed();
      const seen = live.seen();
      // A cancel or a deadline may have come first.
      if (!isTerminal(live.acceptedState)) {
        this.#executions.answer(live, answer, share);
      }
      return seen;
    } finally {
      free();
    }
  }

  /** The task is at work, and its code takes messages meanwhile. */
  async #queue(held: Held, message: Message, input: SendInput, details: CallDetails): Promise<TaskHandle> {
    const { live } = held;
    const { queued, generation } = live.messages.enqueue(message, input, details, input.ifGenerationMatch);
    await live.flushed();
    const seen = live.seen();
    if (!isTerminal(live.acceptedState)) {
      this.#executions.deliver(live, queued);
    }
    const { sequence } = queued; // alone: the call may go on for hours, and the message is the task's
    return new QueuedHandle(this.#held.handle(held, generation, seen), () =>
      live.messages.assertTaken(sequence),
    );
  }
}

/** Lets so much of a message count for its call. @param more besides what it takes @throws ConnectError CAPACITY */
function count({ bytes, memory }: Sending, more = 0): void {
  memory.add(bytes + more - memory.amount);
}

/** What a message takes in memory, with what came with it. */
function weighInput(input: SendInput): number {
  return weighMessage(input.message) + weighDetails(detailsOf(input));
}

/** The same of a large one. Until it is weighed only a part of it counts, so it is not in the line of what else its caller does. */
async function weighInSlices(input: SendInput, memory: Holding): Promise<number> {
  memory.add(Math.max(largeBytes, countContent(input.message)));
  await sliceOf(input); // testing it took long, and so do weighing and encoding it
  const bytes = weighInput(input);
  count({ input, bytes, memory });
  await sliceOf(input);
  return bytes;
}

/** @throws ConnectError when the call has gone meanwhile */
async function sliceOf({ share, signal }: SendInput): Promise<void> {
  await nextSlice(share, "message");
  if (signal?.().aborted === true) throw new ConnectError("the call was canceled", Code.Canceled);
}

/** Which of them is the same message: for a read. Each is compared in a slice: one of a hundred thousand values takes as long as a small call. */
async function findSame(
  all: readonly StoredMessage[],
  message: Message,
  share: string | undefined,
): Promise<StoredMessage | undefined> {
  const { length } = encodeMessage(MessageSchema, message); // the same for any order of names
  let bytes: Uint8Array | undefined;
  for (const each of all.filter(({ payload }) => payload.length === length)) {
    await nextSlice(share, "read");
    bytes ??= encodeDeterministically(MessageSchema, message);
    const stored = encodeDeterministically(MessageSchema, decodeMessage(MessageSchema, each.payload));
    if (constantTimeEqual(bytes, stored)) return each;
  }
  return undefined;
}

/** The texts and bytes of a message, of which most large ones consist. It visits no values. */
function countContent({ parts }: Message): number {
  return parts.reduce((sum, { content: { value } }) => {
    const isCounted = typeof value === "string" || value instanceof Uint8Array;
    return isCounted ? sum + value.length : sum;
  }, 0);
}

/** @throws ConnectError PermissionDenied */
function assertSkill(input: SendInput, { skill: id, scopes }: SkillSelection): void {
  if (id !== undefined) {
    input.assertSkill?.({ id, scopes });
  }
}

function detailsOf({
  metadata,
  acceptedOutputModes,
  extensions,
  credentials: caller,
}: SendInput): CallDetails {
  return { metadata, acceptedOutputModes, extensions, caller };
}
