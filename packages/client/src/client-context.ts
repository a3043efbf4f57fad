import type { A2AService, AgentCard } from "@a2a-connect/proto";
import type { Client } from "@connectrpc/connect";
import type { CallOptions } from "./call-options.ts";
import type { AgentCards } from "./card/agent-cards.ts";
import type { ExtendedCards } from "./card/extended-cards.ts";
import { CardRefusedError } from "./errors.ts";
import type { Followers } from "./follow/sources/followers.ts";
import type { AgentTransport } from "./interface/agent-transport.ts";
import type { ConnectOptions } from "./options.ts";
import type { ClientSettings } from "./settings.ts";

/** What the parts of one client share: its options, the agent's card, and how to call the agent. */
export interface ClientContext {
  readonly options: ConnectOptions;
  readonly settings: ClientSettings;
  readonly cards: AgentCards;
  readonly extended: ExtendedCards;
  readonly transport: AgentTransport;
  /** The generated client over `transport`. */
  readonly rpc: Client<typeof A2AService>;
  /** Who follows which task: they share streams and polls. */
  readonly followers: Map<string, Followers>;
  /** Aborted when the client is closed. */
  readonly closed: AbortController;
}

/** The card in use: the extended one once it was fetched, until the public one changes. */
export function cardOf({ extended, cards }: ClientContext): AgentCard {
  return extended.card ?? cards.current.resolved.card;
}

/** Aborts with the call's own signal, and when the client is closed. */
export function signalOf({ closed }: ClientContext, { signal }: CallOptions): AbortSignal {
  return signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]);
}

/**
 * Call it before sending what only a trusted agent may know.
 *
 * @param taskId of the task that it is about
 * @throws CardRefusedError, UntrustedOutputError or CardDriftError when the agent's card is refused or does not meet the
 *   requirements
 */
export async function renewCard(
  { cards, extended }: ClientContext,
  signal: AbortSignal,
  taskId?: string,
): Promise<void> {
  try {
    await cards.renew(signal);
    await extended.renew(signal);
  } catch (error) {
    throw taskId === undefined ? error : withTask(error, taskId);
  }
}

/** The error for a message to a task whose agent's card is refused; other errors stay as they are. */
function withTask(error: unknown, taskId: string): unknown {
  if (!(error instanceof CardRefusedError)) {
    return error;
  }
  const { message, hint, cause } = error;
  const further = `Task ${taskId} can be followed and canceled all the same; resume task ${taskId} once the card is trusted again.`;
  return new CardRefusedError(`${message} Nothing was sent to task ${taskId}, which is still there.`, {
    taskId,
    hint: hint === undefined ? further : `${hint} ${further}`,
    cause,
  });
}
