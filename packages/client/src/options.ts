import type { CredentialSource } from "@a2a-connect/core/internal";
import type { AgentCard, Artifact, Part } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import type { ClientClock } from "./clock.ts";
import type { ClientPlatform } from "./platform.ts";

/** Where an agent is (a host, an origin, the URL of its card), or its card: a message, or JSON. */
export type AgentReference = string | URL | AgentCard | JsonObject;

/** What an agent must be able to do. The client tests its card for it before it sends anything. */
export interface AgentRequirements {
  readonly streaming?: boolean;
  readonly pushNotifications?: boolean;
  /**
   * Whether the agent may ask questions during a task: the lifecycle extension's `asks`, or an older card's capability.
   */
  readonly inputRequired?: boolean;
  /** URIs of extensions. */
  readonly extensions?: readonly string[];
  /** Ids of skills. */
  readonly skills?: readonly string[];
  /** Media types that the agent accepts, such as `image/png`; those of the required skill if there is exactly one. */
  readonly inputModes?: readonly string[];
  /** Media types that the agent produces. */
  readonly outputModes?: readonly string[];
}

/** Which card is expected. */
export interface CardExpectation {
  /** A range of `AgentCard.version`, such as `^1.2`. */
  readonly cardVersion?: string;
  /**
   * SHA-256 of the card, lowercase hex, as `cardDigest` computes it from the received text: of its canonical form,
   * without signatures, with unknown members. For an older card, too, it is the hash of its own text, not of the
   * message that it becomes.
   */
  readonly cardDigest?: string;
}

/** When calls are repeated, and how streams reconnect. */
export interface RetryOptions {
  /** Attempts at one call, the first included. Default 4. */
  readonly attempts?: number;
  /** Wait before the second attempt, doubled for each one after it, each with jitter. Default 250 ms. */
  readonly initialDelayMs?: number;
  /** Longest wait between two attempts. Default 10 s. */
  readonly maxDelayMs?: number;
  /** How long a followed task may be unreachable before the client gives up. Default 5 min. */
  readonly giveUpAfterMs?: number;
}

/** A value from another party, before the caller gets it. */
export type Inspected =
  | { readonly kind: "card"; readonly card: AgentCard }
  | { readonly kind: "part"; readonly part: Part; readonly of: "message" | "artifact" }
  | { readonly kind: "artifact"; readonly artifact: Artifact };

/**
 * Refuses by throwing; the caller gets an UntrustedOutputError with that error as its cause. It must not change the
 * value.
 *
 * The same client does not show it an accepted value again while the value stays the same, though polls and new
 * connections bring it once more (the last 10,000 values are remembered, by their SHA-256). It shows a refused value
 * again.
 */
export type Inspect = (inspected: Inspected) => void | Promise<void>;

/** How to call an agent. Times and sizes may be `Infinity`: no limit. */
export interface ConnectOptions {
  /** Bindings to use, best first. Default: all that are known, in the card's order. */
  readonly bindings?: readonly string[];
  /** The only binding to use; the client falls back to no other. */
  readonly pinBinding?: string;
  /** The only protocol version to use, `Major.Minor`. Default see `protocolVersions`. */
  readonly pinVersion?: string;
  /**
   * Versions that may be used, each where the card has it. Default: 1.0, or 0.3 or 0.2 of a card that has no newer one; name
   * the draft `1.1` to use it.
   */
  readonly protocolVersions?: readonly string[];
  /** Extensions to activate with every call, beside the lifecycle extension if the card has it. */
  readonly extensions?: readonly string[];
  readonly requires?: AgentRequirements;
  readonly expect?: CardExpectation;
  /** Whether parts are tested against the skill's input modes before they are sent. Default true. */
  readonly checkInputModes?: boolean;
  /** Headers of every request, the card's included. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Says who calls: `createCredentials` of `@a2a-connect/auth/client`. The card's request never has it. A call that the agent refuses
   * as unauthenticated is made once more when there are other credentials.
   */
  readonly auth?: CredentialSource;
  /** Run around every call, the first one outermost. */
  readonly interceptors?: readonly Interceptor[];
  /**
   * Sends every request to the agent except gRPC's. Default the platform's. Files that parts name by URL never go
   * through it.
   */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Node: addresses in the card, in parts and in redirects must be public, unless the card is on this machine and names
   * this machine. Not together with `fetch`, which the guard could not control. Default false.
   */
  readonly untrusted?: boolean;
  readonly platform?: ClientPlatform;
  readonly clock?: ClientClock;
  /** Time limit for connecting and for the card. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Time limit for an operation that does not wait for a task. Default 30 s; above 27 hours there is no limit. */
  readonly requestTimeoutMs?: number;
  /** Silence on a stream, or in a file's download, after which it counts as broken. Default 60 s. */
  readonly idleTimeoutMs?: number;
  readonly retry?: RetryOptions;
  /**
   * Largest response, or message of a stream, which may also have at most one value for each 64 bytes of this, or 120,000
   * if that is more; a member, an object and an array count two each. Default 64 MiB.
   */
  readonly maxResponseBytes?: number;
  /** The weight of a followed task, about its size in memory, over all its events. Default 128 MiB. */
  readonly maxTaskBytes?: number;
  /** Largest card. Default 1 MiB. */
  readonly maxCardBytes?: number;
  /**
   * How long a card without cache headers counts as fresh. Default 5 min. No card does for longer than 30 days, or,
   * with `verifyCard`, 24 hours.
   */
  readonly cardTtlMs?: number;
  /** Sees every card, part and artifact once, before the caller gets it. */
  readonly inspect?: Inspect;
  /**
   * Judges a card before the client uses anything in it, and before `inspect` sees it. It throws to refuse the card,
   * and the caller gets a CardRefusedError with that error as its cause. `trustCards(policy)` of `@a2a-connect/signing`
   * makes one of a trust policy.
   *
   * It judges the card again each time the client fetches it, changed or not, because keys expire. It also does so
   * before work begins when the last judgement is more than 5 minutes old, also for a card from the caller. When it
   * refuses the card then, calls that would begin work, or send the agent content, fail until the agent has a card that
   * is accepted. It judges extended cards each time they are fetched, and together with the public one while they are
   * in use. A refused extended card is no longer used.
   */
  readonly verifyCard?: (received: ReceivedCard) => void | Promise<void>;
  /** Gets what is unusual, in one sentence: an older card, a poll interval below the recommended one. */
  readonly onWarning?: (warning: string) => void;
}

/** A card as received. */
export interface ReceivedCard {
  /**
   * Where it came from; for an extended card, where the agent's public card did. Undefined when that came from the
   * caller.
   */
  readonly url: string | undefined;
  /** The URL that was fetched; redirects may have led from it to `url`. A memory recognises the agent by it. */
  readonly asked: string | undefined;
  /**
   * Its JSON, character for character. A card that did not come as JSON is the ProtoJSON of the message
   * (`formatMessage` of core), without unknown members: one from the caller, and the extended one over gRPC, gRPC-Web
   * and Connect.
   */
  readonly text: string;
  readonly card: AgentCard;
  /** Whether it is the extended card, which an operation of the agent returns. */
  readonly extended: boolean;
}
