import type { AgentCard, Artifact, Part } from "@a2a-connect/proto";
import type { Interceptor } from "@connectrpc/connect";
import type { ClientClock } from "./clock.ts";
import type { ClientPlatform } from "./platform.ts";

/** What an agent must be able to do. Checked against its card before anything is sent. */
export interface AgentRequirements {
  readonly streaming?: boolean;
  readonly pushNotifications?: boolean;
  /** Whether it can ask in the middle of a task: the lifecycle extension's `asks`, or an older card's capability. */
  readonly inputRequired?: boolean;
  /** URIs of extensions. */
  readonly extensions?: readonly string[];
  /** Ids of skills. */
  readonly skills?: readonly string[];
  /** Media types that it takes, such as `image/png`; of the one required skill when there is one. */
  readonly inputModes?: readonly string[];
  /** Media types that it gives. */
  readonly outputModes?: readonly string[];
}

/** Which card is meant. */
export interface CardExpectation {
  /** A range of `AgentCard.version`, such as `^1.2`. */
  readonly cardVersion?: string;
  /**
   * SHA-256 of the card, lowercase hex, as `cardDigest` computes it from the text that was received: of its canonical form,
   * without signatures, with the members that nobody knows. Of an older card, too, it is of the text, not of what that is read
   * as.
   */
  readonly cardDigest?: string;
}

/** When a call that may be repeated is, and how streams come back. */
export interface RetryOptions {
  /** Attempts at one call, the first included. Default 4. */
  readonly attempts?: number;
  /** Wait before the second attempt, doubled for each one after it, each with jitter. Default 250 ms. */
  readonly initialDelayMs?: number;
  /** Longest wait between two attempts. Default 10 s. */
  readonly maxDelayMs?: number;
  /** How long a followed task may be out of reach before it is given up. Default 5 min. */
  readonly giveUpAfterMs?: number;
}

/** Something that others sent, before anybody gets it. */
export type Inspected =
  | { readonly kind: "card"; readonly card: AgentCard }
  | { readonly kind: "part"; readonly part: Part; readonly of: "message" | "artifact" }
  | { readonly kind: "artifact"; readonly artifact: Artifact };

/**
 * Refuses by throwing; the caller gets an UntrustedOutputError with that as its cause. Looks only: what it changes in what it
 * is shown, nobody can count on.
 *
 * What it has let pass it is not shown again by the same client while it says the same, though polls and new
 * connections bring it once more (the last 10,000 things are remembered, by their SHA-256); what it has refused, it is.
 */
export type Inspect = (inspected: Inspected) => void | Promise<void>;

/** How an agent is called. Times and sizes may be `Infinity`: no limit. */
export interface ConnectOptions {
  /** Bindings to be used, best first. Default: all that are known, in the card's order. */
  readonly bindings?: readonly string[];
  /** The only binding to be used; no other is fallen back to. */
  readonly pinBinding?: string;
  /** The only protocol version to be used, `Major.Minor`. Default: 1.0 (see `protocolVersions`). */
  readonly pinVersion?: string;
  /** Versions that may be used. Default `["1.0"]`; the draft `1.1` is asked for by name. */
  readonly protocolVersions?: readonly string[];
  /** Extensions to activate with every call, beside the lifecycle extension where the card has it. */
  readonly extensions?: readonly string[];
  readonly requires?: AgentRequirements;
  readonly expect?: CardExpectation;
  /** Whether parts are checked against the skill's input modes before they are sent. Default true. */
  readonly checkInputModes?: boolean;
  /** Sent with every request, the card's included. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Around every call, first one outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Sends every request to the agent but gRPC's. Default the platform's. Files that parts name by URL never go through it. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Node: addresses that the card, parts and redirects name must be public, unless the card is on this machine itself and names
   * this machine. Not together with `fetch`, which nobody could vouch for. Default false.
   */
  readonly untrusted?: boolean;
  readonly platform?: ClientPlatform;
  readonly clock?: ClientClock;
  /** How long connecting and the card may take. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** How long an operation may take that does not wait for a task. Default 30 s; above 27 hours it is no limit. */
  readonly requestTimeoutMs?: number;
  /** Silence on a stream, or of a file that is fetched, after which it counts as broken. Default 60 s. */
  readonly idleTimeoutMs?: number;
  readonly retry?: RetryOptions;
  /** Largest response, or message of a stream. Default 64 MiB. */
  readonly maxResponseBytes?: number;
  /** What a task that is followed may weigh, about as it is in memory, however many events it comes in. Default 128 MiB. */
  readonly maxTaskBytes?: number;
  /** Largest card. Default 1 MiB. */
  readonly maxCardBytes?: number;
  /**
   * How long a card without cache headers is taken for new. Default 5 min. No card is for longer than 30 days, nor, with
   * `verifyCard`, than 24 hours.
   */
  readonly cardTtlMs?: number;
  /** Shown every card, part and artifact, each once, before anybody else gets it. */
  readonly inspect?: Inspect;
  /**
   * Judges a card before anything in it is used, and before `inspect` is shown it; throws to refuse it, and the caller gets a
   * CardRefusedError with that as its cause. `trustCards(policy)` of `@a2a-connect/signing` makes one of a trust policy.
   *
   * The card is judged again whenever it is asked for again, changed or not, because keys expire, and before work is begun
   * when that was not done for 5 minutes; also one that the caller gave. When it is refused then, calls that would begin work, or
   * tell the agent something, fail until a card is there that is not. Extended cards are judged each time they are fetched, and
   * together with the public one while they are in use; one that is refused then is in use no more.
   */
  readonly verifyCard?: (received: ReceivedCard) => void | Promise<void>;
  /** Told what is odd, in one sentence: an older card, a poll interval below the recommended. */
  readonly onWarning?: (warning: string) => void;
}

/** A card as it arrived. */
export interface ReceivedCard {
  /** Where it came from, of an extended card where the agent's public one did; undefined when the caller gave that. */
  readonly url: string | undefined;
  /** The URL that was asked for, from where redirects may have led to `url`; by it an agent is known again. */
  readonly asked: string | undefined;
  /**
   * Its JSON, character for character. Of a card that did not come as JSON, one that the caller gave and the extended one over
   * gRPC, gRPC-Web and Connect, it is the ProtoJSON of the message (`formatMessage` of core): members that nobody knows are
   * not in it.
   */
  readonly text: string;
  readonly card: AgentCard;
  /** Whether it is the extended card, which came by an operation of the agent. */
  readonly extended: boolean;
}
