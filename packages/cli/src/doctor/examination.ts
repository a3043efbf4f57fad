import type { AgentCard } from "@a2a-connect/proto";
import type { Finding } from "./finding.ts";
import type { HttpClient } from "./http-client.ts";
import type { CallOutcome, InterfaceCalls, RpcClient } from "./interface-calls.ts";

/** An interface that answers, with what it answered first. */
export interface LiveInterface {
  readonly calls: InterfaceCalls;
  /** What GetTask of a task that does not exist brought. */
  readonly health: CallOutcome;
}

/** What the probes of a server are given. */
export interface Examination {
  readonly card: AgentCard;
  readonly http: HttpClient;
  /** Those that answered. */
  readonly live: readonly LiveInterface[];
}

/** One subject of a server that is examined, without sending anything to its skills. */
export interface Probe {
  /** `version`, as in the ids of its findings. */
  readonly id: string;
  run(examination: Examination): Promise<readonly Finding[]>;
}

/** An id that no server has given out: a call about it changes nothing. */
export function madeUpTaskId(): string {
  return `a2a-doctor-${crypto.randomUUID()}`;
}

/** GetTask of a task that does not exist: the smallest question that goes all the way through a server. */
export function askForNothing(client: RpcClient, options: { signal: AbortSignal }): Promise<unknown> {
  return client.getTask({ id: madeUpTaskId() }, options);
}

/** The finding that one interface gives, about itself. */
export function findingAt({ calls }: LiveInterface, finding: Finding): Finding {
  return { ...finding, at: [calls.label] };
}

/** What came of a call, as evidence. */
export function describeOutcome({ answer, error, reason, exchange }: CallOutcome): string {
  const http = exchange === undefined ? "" : `HTTP ${exchange.status}, `;
  if (error === undefined) return `${http}${answer === undefined ? "no answer" : "an answer without error"}`;
  return `${http}${reason ?? "no reason"}: ${error.rawMessage.slice(0, 160)}`;
}
