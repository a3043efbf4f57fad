import { isTerminal } from "@a2a-connect/core";
import { draftProtocolVersion } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { retryDelayMs } from "../calls/retry-delay.ts";
import { type ClientContext, cardOf, renewCard } from "../client-context.ts";
import { nameMissingTask } from "../failure.ts";
import { getTask } from "../operations/operations.ts";
import { hasNoCursor, judgeFailure } from "./judge-failure.ts";
import type { Observation } from "./observation.ts";
import { Outage } from "./outage.ts";
import { type Facts, fitPhase, nextStep, type Outcome, type Phase } from "./phases.ts";
import { PollSchedule } from "./poll-schedule.ts";
import { enterFollowers, type Followers } from "./sources/followers.ts";
import { sendAgain, sendByCall, sendByStream } from "./sources/send.ts";
import type { NumberedResponse, Source } from "./sources/source.ts";
import { longPoll, poll, subscribe } from "./sources/subscribe-or-poll.ts";
import { sendByWebhook } from "./sources/webhook.ts";
import { Submission } from "./submission.ts";

/** A long poll that was answered sooner than this did not wait. */
const shortestLongPollMs = 1_000;

/**
 * Streams in a row that bring no answer before the client sends the same message by one call: a proxy may block streams.
 * When the call brings none either, it goes on with as many streams and another call.
 */
const streamsBeforeCall = 2;

/**
 * How many streams in a row may bring no event before the client looks at the task. It is more when events are
 * numbered: only a stream has each of them.
 */
const streamPatience = { unnumbered: 3, numbered: 8 } as const;

/** How often a stream is given the chance to bring events one by one that a look at the task has found. */
const maxCatchUps = 2;

/** Looks at the card, and at the task for which a message is, before anything is sent. */
export async function beginCourse(context: ClientContext, observation: Observation): Promise<Course> {
  const { sending, tracker, headers, signal } = observation;
  if (sending !== undefined) {
    const taskId = sending.request.message?.taskId || undefined;
    await renewCard(context, signal, taskId);
    if (taskId !== undefined && !context.cards.current.honoursKeys) {
      const { status } = await getTask(context, taskId, { historyLength: 0, headers, signal });
      // A task that has ended refuses the message with an error of its own.
      if (status !== undefined && !isTerminal(status.state)) {
        tracker.ignore(status);
      }
    }
  }
  return new Course(context, observation);
}

/** Where a client is with a task: the phase, what was counted on the way to it, and what a message is sent with. */
export class Course implements Disposable {
  readonly #context: ClientContext;
  readonly #observation: Observation;
  readonly #outage: Outage;
  readonly #polls: PollSchedule;
  readonly #submission: Submission | undefined;
  #phase: Phase;
  /** Attempts in a row without an event. */
  #fruitless = 0;
  /** Streams in a row that were to bring the events that a look at the task has found, and brought none. */
  #catchUps = 0;
  #openedMs = 0;
  /** Number of the last poll that may show less than what is known. */
  #lastPoll = 0;
  #followers: Followers | undefined;
  #hasNews = false;
  #failure: unknown;

  constructor(context: ClientContext, observation: Observation) {
    const { sending } = observation;
    this.#context = context;
    this.#observation = observation;
    this.#outage = new Outage(context.settings, observation.tracker);
    this.#polls = new PollSchedule(observation.pollIntervalMs);
    this.#submission = sending && new Submission(context, sending);
    this.#phase = fitPhase(sending === undefined ? "subscribe" : "send", this.#facts());
  }

  /** Opens the source of the phase. @throws InputModeError, RequirementError when the message does not fit the card */
  open(): Source {
    this.#openedMs = this.#context.settings.clock.now();
    this.#hasNews = false;
    const [context, observation, key] = [this.#context, this.#observation, this.#submission?.key];
    switch (this.#phase) {
      case "send":
        return sendByStream(context, observation, key);
      case "send-by-call":
        return sendByCall(context, observation, key);
      case "send-again":
        return sendAgain(context, observation, key);
      case "send-by-webhook":
        return sendByWebhook(context, observation, key);
      case "long-poll":
        return longPoll(context, observation);
      default:
        break;
    }
    if (this.#followers === undefined) {
      const { tracker, headers } = observation;
      const { platform } = context.options;
      const nextTurn = () => platform?.turn?.(context.transport.current.interface.url);
      this.#followers = enterFollowers(context.followers, tracker.taskId, headers, nextTurn);
      this.#lastPoll = this.#followers.answered;
    }
    return this.#phase === "subscribe"
      ? subscribe(context, observation, this.#followers)
      : poll(
          context,
          observation,
          this.#followers,
          this.#phase === "poll" ? this.#lastPoll : this.#followers.started,
        );
  }

  [Symbol.dispose](): void {
    this.#followers?.[Symbol.dispose]();
  }

  /** Whether a look at the task has shown that a stream would bring its new events one by one. */
  shouldCatchUpByStream({ response: { payload } }: NumberedResponse): boolean {
    const { tracker } = this.#observation;
    const isCheck = this.#phase === "check" || this.#phase === "check-silence";
    return (
      isCheck &&
      this.#catchUps < maxCatchUps &&
      tracker.position !== undefined &&
      payload.case === "task" &&
      tracker.isBehind(payload.value)
    );
  }

  /** Notes that a response came, and how many new events were in it. */
  note(events: number): void {
    const isStream = this.#phase === "send" || this.#phase === "subscribe";
    this.#hasNews ||= events > 0;
    if (events > 0 || !isStream) {
      this.#outage.over();
    }
    if (events > 0 && isStream) {
      this.#fruitless = 0;
      this.#catchUps = 0;
    }
  }

  /**
   * The outcome of a source that did not fail.
   *
   * @param left the response that is left to a stream (`shouldCatchUpByStream`); undefined when the source has ended
   */
  outcomeAtEnd(left: NumberedResponse | undefined): Outcome {
    if (left !== undefined) {
      this.#catchUps += 1;
      return "behind";
    }
    switch (this.#phase) {
      case "subscribe":
        return this.#orFruitless("ended");
      case "long-poll":
        return this.#hasNews ? "news" : this.#hasWaited() ? "ended" : "early";
      case "check":
      case "check-silence":
      case "poll":
        return this.#hasNews ? "news" : "ended";
      default:
        return this.#observation.tracker.taskId !== undefined ? "taken" : this.outcomeOfFailure(unanswered());
    }
  }

  /** What a failure of the source, or of an event in it, means. @throws the error that ends everything */
  outcomeOfFailure(error: unknown): Outcome {
    const { signal, tracker } = this.#observation;
    signal.throwIfAborted();
    this.#failure = error;
    const isSending = this.#phase.startsWith("send");
    if (isSending && tracker.taskId === undefined && this.#submission !== undefined) {
      const outcome = this.#submission.outcomeOfSendFailure(error, this.#phase);
      return outcome === "broken" ? this.#noteBroken(error) : outcome;
    }
    const hasCredentials = this.#context.options.auth !== undefined;
    const judgement = judgeFailure(error, isSending ? "subscribe" : this.#phase, hasCredentials);
    if (judgement === "final") {
      throw nameMissingTask(error, tracker.taskId ?? "");
    }
    if (isSending) {
      return "taken"; // the message arrived, so a broken stream is no failure of sending: the task is followed at once
    }
    if (hasNoCursor(error)) {
      tracker.forgetPosition();
    }
    return judgement === "broken" ? this.#noteBroken(error) : judgement;
  }

  /** Waits, and goes on to the next phase. */
  async advance(outcome: Outcome): Promise<void> {
    const { signal, wakeUp } = this.#observation;
    const { clock, retry } = this.#context.settings;
    this.#lastPoll = this.#followers?.started ?? 0;
    const { to, before } = nextStep(this.#phase, outcome);
    if (before === "backoff") {
      await wakeUp.sleep(retryDelayMs(this.#fruitless, this.#failure, retry, clock), clock, signal);
    } else if (
      before === "interval" &&
      (await wakeUp.sleep(this.#polls.next(this.#hasNews), clock, signal))
    ) {
      this.#polls.reset();
      this.#lastPoll = this.#followers?.started ?? 0; // the caller has changed the task since
    } else if (before === "new card") {
      await this.#submission?.renew(this.#failure, signal);
    }
    if (outcome === "taken" || outcome === "refused") {
      this.#fruitless = 0;
    }
    this.#failure = undefined;
    this.#phase = fitPhase(to, this.#facts());
  }

  #facts(): Facts {
    const { capabilities } = cardOf(this.#context);
    const { tracker, sending } = this.#observation;
    return {
      webhook: sending?.push !== undefined && capabilities?.pushNotifications === true,
      streams: capabilities?.streaming === true,
      longPolls:
        tracker.position !== undefined &&
        this.#context.transport.current.protocolVersion === draftProtocolVersion,
    };
  }

  #hasWaited(): boolean {
    return this.#context.settings.clock.now() - this.#openedMs >= shortestLongPollMs;
  }

  #noteBroken(error: unknown): Outcome {
    this.#outage.failed(error);
    return this.#orFruitless("broken");
  }

  /** Counts a source without an event. It is fruitless when enough before it had none either. */
  #orFruitless(outcome: "ended" | "broken"): Outcome {
    this.#fruitless += 1;
    const { position } = this.#observation.tracker;
    switch (this.#phase) {
      case "send":
        return this.#submission?.key !== undefined &&
          this.#fruitless % (streamsBeforeCall + 1) === streamsBeforeCall
          ? "fruitless"
          : outcome;
      case "subscribe":
        return this.#fruitless >= streamPatience[position === undefined ? "unnumbered" : "numbered"]
          ? "fruitless"
          : outcome;
      default:
        return outcome;
    }
  }
}

function unanswered(): ConnectError {
  return new ConnectError("the stream had no events", Code.Unavailable);
}
