import type { MethodName, RpcMethod } from "@a2a-connect/core";
import type { Caller } from "./gate.ts";

/** The scope that callers need to send, answer, cancel, and change webhooks. */
export const createScope = "a2a:tasks:create";

/** The scope that callers need to get, list and subscribe. */
export const readScope = "a2a:tasks:read";

/** The scope that callers from other machines need to read what the agent's code has noted of their tasks. */
export const notesScope = "a2a:tasks:notes";

/** What a caller needs who may do everything with its own tasks. */
export const defaultScopes: readonly string[] = [createScope, readScope];

/** What a caller wants to do. */
export interface Action {
  readonly operation: MethodName;
  /** `create` makes or changes tasks and webhooks, `read` reads them, `card` reads the extended card. */
  readonly kind: "create" | "read" | "card";
}

/** With what a caller wants to do it. The task may be missing, or another caller's: nothing was looked up yet. */
export interface Resource {
  readonly tenant: string;
  /** The task that the request names, or "". */
  readonly taskId: string;
  /** The skill that a message is for, as far as it is known, and the scopes that the skill asks for. */
  readonly skill?: { readonly id: string; readonly scopes: readonly string[] };
}

/**
 * Whether a caller may do something. `hide`: it may not, and is told that there is no such task. `needs`: it may not, and is told
 * which scopes it lacks.
 */
export type Decision = "allow" | "hide" | { readonly needs: readonly string[] };

/** Decides for every call, before anything is looked up, and again when a message's skill is known. */
export type Policy = (caller: Caller, action: Action, resource: Resource) => Decision;

/** The scopes of operations. */
export interface OperationScopes {
  /** To send, answer, cancel, and change webhooks. */
  readonly create: string;
  /** To get, list and subscribe. */
  readonly read: string;
}

/** What the operations of the protocol need by default. */
export const defaultOperationScopes: OperationScopes = { create: createScope, read: readScope };

/**
 * The default policy: a caller needs the scope of the operation, and those of the skill that its message is for. It never sees
 * tasks of others: no policy can give it them, because the store keeps tasks by their owners.
 *
 * @param scopes `false`: operations need none
 */
export function scopePolicy(scopes: OperationScopes | false = defaultOperationScopes): Policy {
  return (caller, { kind }, { skill }) => {
    const own = scopes === false || kind === "card" ? [] : [scopes[kind]];
    const needs = [...own, ...(skill?.scopes ?? [])].filter((scope) => !caller.scopes.includes(scope));
    return needs.length === 0 ? "allow" : { needs };
  };
}

/** What an operation does, from its descriptor: a new operation is known at once. */
export function actionOf({ name, desc, routes }: RpcMethod): Action {
  if (desc.output.name === "AgentCard") {
    return { operation: name, kind: "card" };
  }
  return { operation: name, kind: routes[0]?.verb === "GET" ? "read" : "create" };
}
