import { isGeneratedId } from "@a2a-connect/bindings/server";
import { invalidParams, principalKey } from "@a2a-connect/core";
import {
  draftFields,
  encodeDeterministically,
  idempotencyKeyHeader,
  sha256,
} from "@a2a-connect/core/internal";
import {
  AuthenticationInfoSchema,
  MessageSchema,
  SendMessageConfigurationSchema,
  type SendMessageRequest,
  SendMessageRequestSchema,
  TaskPushNotificationConfigSchema,
} from "@a2a-connect/proto";
import type { DescField } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { RequestKey } from "../store/task-store.ts";
import { speaksDraft } from "./operation.ts";

const maxKeyLength = 255;

/** All callers without credentials share one principal: two of them must not choose the same key by chance. */
const minAnonymousKeyLength = 16;

/** Printable ASCII without a space at either end. */
const keySyntax = /^[!-~](?:[ -~]*[!-~])?$/;

/** A header that came twice arrives as one with a comma and a space in it. */
const joined = /, |^,|,$/;

/** Fields that a repeat may change: secrets, and how this one call is answered. */
const notCompared: ReadonlySet<DescField> = new Set([
  TaskPushNotificationConfigSchema.field.token,
  AuthenticationInfoSchema.field.credentials,
  SendMessageConfigurationSchema.field.returnImmediately,
  SendMessageConfigurationSchema.field.historyLength,
]);

/** The same for callers of A2A 1.0, for whom the fields of a later version have no meaning. */
const notComparedIn10: ReadonlySet<DescField> = new Set([...notCompared, ...draftFields]);

/**
 * The key by which the server recognises a repeated send: the caller's own, from the header or metadata
 * `Idempotency-Key`, or the id of its message if the agent wants that. Undefined for a request without one.
 *
 * @throws ConnectError (as a rejection) InvalidArgument for an invalid key
 */
export async function readRequestKey(
  request: SendMessageRequest,
  context: HandlerContext,
  agent: AgentDefinition,
): Promise<RequestKey | undefined> {
  const name = readKeyName(request, context, agent);
  if (name === undefined) {
    return undefined;
  }
  // Agents may share a store, and both kinds of keys may look alike.
  const key = JSON.stringify([agent.card.name, ...name]);
  return { key, fingerprint: await fingerprint(request, context) };
}

function readKeyName(
  { message }: SendMessageRequest,
  context: HandlerContext,
  { dedupeMessageIds = false }: AgentDefinition,
): readonly string[] | undefined {
  const { anonymous } = context.values.get(principalKey);
  const key = context.requestHeader.get(idempotencyKeyHeader);
  if (key !== null) {
    assertKey(key, anonymous);
    return ["key", key];
  }
  const { contextId = "", messageId = "" } = message ?? {};
  const minLength = anonymous ? minAnonymousKeyLength : 1;
  return dedupeMessageIds && messageId.length >= minLength ? ["message-id", contextId, messageId] : undefined;
}

function assertKey(key: string, anonymous: boolean): void {
  const problem = findKeyProblem(key, anonymous);
  if (problem !== undefined) {
    throw invalidParams({ field: idempotencyKeyHeader, description: problem });
  }
}

function findKeyProblem(key: string, anonymous: boolean): string | undefined {
  if (joined.test(key)) {
    return "must be given once, and have no comma before a space or at an end";
  }
  if (key.length > maxKeyLength || !keySyntax.test(key)) {
    return `must be 1 to ${maxKeyLength} printable ASCII characters without a space at either end`;
  }
  return anonymous && key.length < minAnonymousKeyLength
    ? `must have at least ${minAnonymousKeyLength} characters from a caller without credentials`
    : undefined;
}

/** SHA-256 of what the caller asks for, the same over all wires. */
async function fingerprint(request: SendMessageRequest, context: HandlerContext): Promise<Uint8Array> {
  const omit = new Set(speaksDraft(context) ? notCompared : notComparedIn10);
  if (isGeneratedId(request.message?.messageId)) {
    omit.add(MessageSchema.field.messageId); // the caller has not chosen it, and a repeat has another
  }
  const encoded = encodeDeterministically(SendMessageRequestSchema, request, omit);
  return await sha256(encoded);
}
