/**
 * What a client does about a task at one time. Each phase has a source of responses (`sources/`):
 *
 * - `send`: SendStreamingMessage; `send-by-call`: SendMessage, whose answer is the first event; `send-again`: SendMessage
 *   under the key of streams that brought no answer; `send-by-webhook`: SendMessage, and then what the agent delivers;
 * - `subscribe`: SubscribeToTask after the last event;
 * - `check`: GetTask, because streams bring nothing; `check-silence`: the same after a stream that was silent;
 * - `poll`: GetTask, because there are no streams; `long-poll`: the same of A2A 1.1, which waits for a change.
 */
export type Phase =
  | "send"
  | "send-by-call"
  | "send-again"
  | "send-by-webhook"
  | "subscribe"
  | "check"
  | "check-silence"
  | "poll"
  | "long-poll";

/**
 * How a source ended, when the task is not over:
 *
 * - `taken`: the agent has the message, even if its stream broke then; `refused`: it has not, and a changed card may be the reason;
 * - `unsupported`: the agent does not do that;
 * - `ended`: there is nothing more, and perhaps nothing new; `news`: a call brought something new;
 * - `early`: a long poll was answered at once, with nothing new;
 * - `behind`: the task has events that a stream would bring one by one;
 * - `silent`: nothing was heard for too long; `broken`: it failed in a way that may pass; while
 *   sending, before the first event;
 * - `fruitless`: it ended or broke without any event, as the ones before it.
 */
export type Outcome =
  | "taken"
  | "refused"
  | "unsupported"
  | "ended"
  | "news"
  | "early"
  | "behind"
  | "silent"
  | "broken"
  | "fruitless";

/** What comes before the next phase: a wait after failures, the interval between polls, or a new card. */
export type Pause = "at once" | "backoff" | "interval" | "new card";

/** What comes next. */
export interface Step {
  readonly to: Phase;
  readonly before: Pause;
}

/** What is known of the agent and of the events so far. */
export interface Facts {
  readonly webhook: boolean;
  readonly streams: boolean;
  /** A2A 1.1, and the events have numbers. */
  readonly longPolls: boolean;
}

const step = (to: Phase, before: Pause = "at once"): Step => ({ to, before });
const follow = step("subscribe");
const anew = step("send", "new card");
const reconnect = step("subscribe", "backoff");
const pollLater = step("poll", "backoff");

/** All that can happen. What is not in it cannot. */
export const transitions: Readonly<Record<Phase, Readonly<Partial<Record<Outcome, Step>>>>> = {
  send: {
    taken: follow,
    refused: anew,
    unsupported: step("send-by-call"),
    broken: step("send", "backoff"),
    fruitless: step("send-again", "backoff"),
  },
  "send-by-call": { taken: follow, refused: anew, broken: step("send-by-call", "backoff") },
  "send-again": { taken: follow, refused: anew, broken: step("send", "backoff") },
  "send-by-webhook": { taken: follow, refused: anew, broken: step("send", "backoff") },
  subscribe: {
    ended: reconnect,
    broken: reconnect,
    fruitless: step("check"),
    silent: step("check-silence"),
    unsupported: step("poll"),
  },
  check: {
    behind: follow,
    news: step("subscribe", "interval"),
    ended: step("subscribe", "interval"),
    broken: reconnect,
  },
  // With news, something holds the events of streams back.
  "check-silence": { behind: follow, ended: follow, news: step("poll"), broken: reconnect },
  poll: { news: step("poll", "interval"), ended: step("poll", "interval"), broken: pollLater },
  "long-poll": {
    news: step("poll"),
    ended: step("poll"),
    early: step("poll", "interval"),
    broken: pollLater,
  },
};

/** @throws Error when that outcome cannot be */
export function nextStep(phase: Phase, outcome: Outcome): Step {
  const found = transitions[phase][outcome];
  if (found === undefined) {
    throw new Error(`this cannot be: "${outcome}" in the phase "${phase}"`);
  }
  return found;
}

/** The phase, as the agent permits it: without streams, for example, the client polls instead of subscribing. */
export function fitPhase(phase: Phase, facts: Facts): Phase {
  switch (phase) {
    case "send":
      return facts.webhook ? "send-by-webhook" : facts.streams ? "send" : "send-by-call";
    case "subscribe":
      return facts.streams ? "subscribe" : fitPhase("poll", facts);
    case "poll":
      return facts.longPolls ? "long-poll" : "poll";
    default:
      return phase; // the others are SendMessage and GetTask, which every agent has
  }
}
