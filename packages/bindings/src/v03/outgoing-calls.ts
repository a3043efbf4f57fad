import { type A2AErrorReason, a2aError, type MethodLocalName } from "@a2a-connect/core";
import {
  absentProtocolVersion,
  extensionsHeader,
  formatMessage,
  isObject,
  startWalk,
  versionHeader,
} from "@a2a-connect/core/internal";
import type { DescMethod, JsonValue, Message } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { createForms, type Dialect } from "./forms.ts";
import { type OlderMethod, olderExtensionsHeader, olderMethods } from "./methods.ts";

/** Reads a card of an older version: the result is the JSON of 1.0. */
export type ReadOlderCard = (card: Readonly<Record<string, unknown>>) => unknown;

/** How a client writes a call of an older version, and reads what is answered. */
export interface OutgoingOlderCall extends Pick<OlderMethod, "name" | "rpc" | "operation"> {
  /** The request as older JSON; undefined when it says nothing. */
  toOlder(message: Message): JsonValue | undefined;
  /** The answer, or an event, as the JSON of 1.0. */
  toCurrent(json: unknown): unknown;
}

/**
 * The calls of older versions, by their methods of 1.0. Answers are read less strictly than a server reads requests: what
 * cannot be read is left out.
 *
 * @returns a function that throws a ConnectError with the reason UNSUPPORTED_OPERATION for a method that older versions do
 *   not have
 */
export function createOutgoingCalls(
  dialect: Dialect,
  readCard: ReadOlderCard,
): (method: DescMethod) => OutgoingOlderCall {
  const forms = createForms(dialect);
  const withKinds = dialect === "json" ? forms : createForms("json");
  const calls = new Map<string, OlderMethod>(olderMethods.map((older) => [older.operation, older]));
  return ({ localName, name, input }) => {
    const older = calls.get(localName);
    if (older === undefined) {
      throw a2aError(
        "UNSUPPORTED_OPERATION",
        `${name} came with A2A 1.0, and this agent speaks an older one`,
      );
    }
    const { request, response } = older;
    return {
      ...older,
      toOlder: (message) =>
        request === undefined
          ? undefined
          : (forms[request].toOlder(formatMessage(input, message)) as JsonValue), // of JSON without lazy lists
      toCurrent(json) {
        if (response === "card") {
          return isObject(json) ? readCard(json) : json;
        }
        // Some servers write over HTTP+JSON what they write over JSON-RPC.
        const hasKind = isObject(json) && typeof json["kind"] === "string";
        return (hasKind ? withKinds : forms)[response].toCurrent(json, startWalk("", undefined, true));
      },
    };
  };
}

/** A call's header in the words of older versions. */
export function toOlderRequestHeader(header: Headers): Headers {
  const older = new Headers(header);
  if (older.get(versionHeader)?.startsWith("0.") !== true) {
    older.set(versionHeader, absentProtocolVersion);
  }
  const extensions = older.get(extensionsHeader);
  if (extensions !== null) {
    older.delete(extensionsHeader);
    older.set(olderExtensionsHeader, extensions);
  }
  return older;
}

/**
 * What an error means that has a code and no name. Over gRPC and HTTP+JSON the older versions have nothing else, and the
 * operation decides.
 */
export function reasonOf(code: Code, operation: MethodLocalName): A2AErrorReason | undefined {
  const isCard = operation === "getExtendedAgentCard";
  switch (code) {
    case Code.NotFound:
      return isCard ? "EXTENDED_AGENT_CARD_NOT_CONFIGURED" : "TASK_NOT_FOUND";
    case Code.FailedPrecondition:
    case Code.Aborted: // HTTP status 409
      return isCard
        ? "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
        : operation === "cancelTask"
          ? "TASK_NOT_CANCELABLE"
          : undefined;
    case Code.Unimplemented:
      return operation.includes("PushNotification") ? "PUSH_NOTIFICATION_NOT_SUPPORTED" : undefined;
    default:
      return undefined;
  }
}
