import { type MethodLocalName, principalKey, tenantKey } from "@a2a-connect/core";
import {
  connectionKey,
  draftProtocolVersion,
  extensionsKey,
  protocolVersionKey,
} from "@a2a-connect/core/internal";
import type { A2AService } from "@a2a-connect/proto";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { shareOf } from "../engine/capacity/shares.ts";
import type { CallDetails } from "../engine/command.ts";
import type { Caller } from "../engine/live-tasks.ts";
import type { CountBytes } from "../engine/read-task.ts";
import type { Owner } from "../store/task-store.ts";

/** The implementation of one RPC: translates and delegates. Gates have let the call pass. */
export type Operation<Name extends MethodLocalName> = ServiceImpl<typeof A2AService>[Name];

/** Who calls, for operations that read or keep tasks. Its signal is made when it is needed. */
export function callerOf(context: HandlerContext): Caller {
  const { values } = context;
  const share = shareOf(values.get(principalKey), values.get(connectionKey).callerNetwork);
  return { owner: ownerOf(context), share, signal: () => context.signal };
}

/** The owner of the tasks that a call may reach. */
export function ownerOf({ values }: HandlerContext): Owner {
  return { tenant: values.get(tenantKey), principal: values.get(principalKey).id };
}

/** Counts the memory that the answer to a call takes, until the runtime has sent it (on our Node port: `serveExchange`). */
export function answerCounterOf({ values }: HandlerContext): CountBytes {
  const connection = values.get(connectionKey);
  return (bytes) => connection.countUnread?.(bytes);
}

/** Whether the caller uses A2A 1.1: for all others its fields do not exist (requirement R-7). */
export function speaksDraft({ values }: HandlerContext): boolean {
  return values.get(protocolVersionKey) === draftProtocolVersion;
}

/** The extensions that are active in a call. */
export function extensionsOf({ values }: HandlerContext): readonly string[] {
  return values.get(extensionsKey);
}

/** What the caller's credentials say, to be kept with the task; undefined when they say no more than who calls. */
export function credentialsOf({ values }: HandlerContext): CallDetails["caller"] {
  const { scopes = [], claims = {} } = values.get(principalKey);
  return scopes.length === 0 && Object.keys(claims).length === 0 ? undefined : { scopes, claims };
}
