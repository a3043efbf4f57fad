import type { ResolvedCard } from "../card/card-resolver.ts";
import type { ConnectOptions } from "../options.ts";
import type { Candidate } from "./choose-interfaces.ts";

/** How to call the interfaces of a card. */
export interface InterfaceSettings
  extends Pick<
    ConnectOptions,
    | "auth"
    | "clock"
    | "connectTimeoutMs"
    | "extensions"
    | "fetch"
    | "headers"
    | "interceptors"
    | "maxResponseBytes"
    | "onWarning"
    | "platform"
    | "untrusted"
  > {}

/** A card that was tested, and what the client uses of it. */
export interface UsedCard {
  readonly resolved: ResolvedCard;
  /** The interfaces that may be used, best first. */
  readonly candidates: readonly Candidate[];
  readonly settings: InterfaceSettings;
  /** Whether the agent takes a message once that is sent twice with the same `Idempotency-Key` (`send/idempotency-key.ts`). */
  readonly honoursKeys: boolean;
}
