import {
  AgentError,
  CardDriftError,
  CardNotFoundError,
  CardRefusedError,
  NoInterfaceError,
  RequirementError,
  SendUncertainError,
} from "@a2a-connect/client";
import { findA2AError } from "@a2a-connect/core";
import { wireCodes } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  CliError,
  type CliErrorCode,
  codeOf,
  describeCauses,
  type Failure,
  type FailureSituation,
  localFailure,
} from "./cli-error.ts";

/** Puts a name to what came of talking to an agent, the same over every binding (a2a-cli §11.4). */
export function describeCallFailure(error: unknown, situation: FailureSituation): Failure {
  if (error instanceof AgentError) return describeAgentError(error, situation);
  if (error instanceof ConnectError) return describeConnectError(error, situation);
  const message = describeCauses(error);
  return isNetworkFailure(error)
    ? localFailure("A2ACLI_ERR_UNREACHABLE", message, unreachableHint)
    : localFailure("A2ACLI_ERR_INTERNAL", message, debugHint);
}

const debugHint = "--debug shows what was sent and what came back";
const unreachableHint = "check the address, and whether the agent runs";

/** The client's own errors, by their code. What is not in it is none of the command's. */
const agentErrors: Readonly<Record<string, CliErrorCode | `${string}Error`>> = {
  "card-not-found": "A2ACLI_ERR_CARD_NOT_FOUND",
  "card-invalid": "A2ACLI_ERR_CARD_INVALID",
  "card-unexpected": "A2ACLI_ERR_CARD_INVALID",
  "card-refused": "A2ACLI_ERR_CARD_INVALID",
  "no-interface": "A2ACLI_ERR_INTERNAL",
  "requirement-missing": "UnsupportedOperationError",
  "input-mode": "ContentTypeNotSupportedError",
  unreachable: "A2ACLI_ERR_UNREACHABLE",
  "send-uncertain": "A2ACLI_ERR_UNREACHABLE",
  "invalid-response": "InvalidAgentResponseError",
  timeout: "A2ACLI_ERR_TIMEOUT",
};

function describeAgentError(error: AgentError, situation: FailureSituation): Failure {
  const { message, hint, cause } = error;
  if (error instanceof CardRefusedError && cause instanceof CliError) {
    return localFailure(cause.code, cause.message, cause.hint); // what refused it was the command itself
  }
  if (error instanceof CardDriftError && error.cause instanceof ConnectError) {
    const failure = describeConnectError(error.cause, situation);
    return { ...failure, message, hint: hint ?? failure.hint };
  }
  return namedFailure(nameOf(error, situation), message, hintOf(error, situation));
}

/** Hints for a user of the command, where the client's own hint names an option of the library. */
const promptHints: readonly (readonly [names: string, hint: string])[] = [
  [
    "NODE_EXTRA_CA_CERTS",
    "renew the certificate, or trust its authority (NODE_EXTRA_CA_CERTS=FILE); for development only, use --insecure",
  ],
  ["`platform.transports`", "ask the operator of the agent for an interface with one of these bindings"],
  ["`protocolVersions:", "name a version that the agent has, such as --protocol 0.3"],
  ["`connectTimeoutMs`", "check the server: it accepts connections but does not answer"],
  ["`maxCardBytes`", "tell the operator of the agent that its card is too large"],
];

function hintOf(error: AgentError, { lookCommand }: FailureSituation): string | undefined {
  if (error instanceof SendUncertainError && lookCommand !== undefined) {
    return `before you send the message again, check whether it already started a task: ${lookCommand}`;
  }
  if (error instanceof CardNotFoundError && mayWantTls(error)) {
    const { host, pathname } = new URL(error.url);
    return `try again, or read the server's log; if the server expects TLS, use https://${host}${pathname.replace(/\/\.well-known\/.*/s, "")}`;
  }
  return promptHints.find(([names]) => error.hint?.includes(names))?.[1] ?? error.hint;
}

function nameOf(error: AgentError, { a2aVersion = "1.0" }: FailureSituation): string {
  if (error instanceof CardNotFoundError) {
    const { cause } = error;
    const isTimeUp = cause instanceof Error && cause.name === "TimeoutError"; // the client's limit for getting a card
    if (isTimeUp || isNetworkFailure(cause)) return "A2ACLI_ERR_UNREACHABLE";
  }
  if (
    error instanceof SendUncertainError &&
    error.cause instanceof ConnectError &&
    brokenAnswers.includes(error.cause.code)
  ) {
    return "InvalidAgentResponseError"; // it was reached, and answered: with an HTTP 500, say
  }
  if (error instanceof RequirementError && error.missing.includes("pushNotifications")) {
    return "PushNotificationNotSupportedError";
  }
  if (
    error instanceof NoInterfaceError &&
    error.offered.length > 0 &&
    !error.offered.some(({ protocolVersion }) => isVersion(protocolVersion, a2aVersion))
  ) {
    return "VersionNotSupportedError";
  }
  return agentErrors[error.code] ?? "A2ACLI_ERR_INTERNAL";
}

/** What an answer that is none stands for. Of a server that was not reached it is Unavailable, on every wire. */
const brokenAnswers: readonly Code[] = [Code.Internal, Code.Unknown, Code.DataLoss];

/** Patch numbers make no difference (spec §3.6). */
function isVersion(offered: string, wanted: string): boolean {
  return offered === wanted || offered.startsWith(`${wanted}.`);
}

/** Codes that stand for no error of A2A. Any other is an `InternalError`. */
const connectErrors: Readonly<Partial<Record<Code, readonly [name: string, hint?: string]>>> = {
  [Code.InvalidArgument]: ["InvalidParamsError"],
  [Code.OutOfRange]: ["InvalidParamsError"],
  [Code.Unimplemented]: ["MethodNotFoundError"],
  [Code.PermissionDenied]: [
    "A2ACLI_ERR_AUTH_FAILED",
    "the agent does not allow this call with these credentials",
  ],
  [Code.Unavailable]: ["A2ACLI_ERR_UNREACHABLE", unreachableHint],
  [Code.DeadlineExceeded]: ["A2ACLI_ERR_TIMEOUT"],
  [Code.Canceled]: ["A2ACLI_ERR_INTERNAL"],
};

function describeConnectError(error: ConnectError, { hasCredentials }: FailureSituation): Failure {
  const { rawMessage, code } = error;
  const [name, hint = debugHint] = nameConnectError(error, hasCredentials);
  const a2aCode = wireCodes(error).jsonRpcCode;
  return { ...namedFailure(name, rawMessage === "" ? Code[code] : rawMessage, hint), a2aCode };
}

/** Reasons for which the command has names of its own, by the codes of their errors. */
const ownNames: ReadonlySet<string> = new Set(["UNAVAILABLE", "UNAUTHENTICATED", "PERMISSION_DENIED"]);

function nameConnectError(error: ConnectError, hasCredentials: boolean): readonly [string, string?] {
  const known = findA2AError(error);
  if (known !== undefined && !ownNames.has(known.reason)) return [errorName(known.reason)];
  if (error.code !== Code.Unauthenticated) return connectErrors[error.code] ?? ["InternalError"];
  return hasCredentials
    ? ["A2ACLI_ERR_AUTH_FAILED", "the agent refused these credentials; get new ones"]
    : ["A2ACLI_ERR_CREDENTIALS_MISSING", "log in (a2a auth login), or set A2ACLI_BEARER or A2ACLI_API_KEY"];
}

/** `TASK_NOT_FOUND` is `TaskNotFoundError` (A2A §3.3.2). */
function errorName(reason: string): string {
  const words = reason.split("_").map((word) => word.charAt(0) + word.slice(1).toLowerCase());
  return `${words.join("")}Error`;
}

function namedFailure(name: string, message: string, hint: string | undefined): Failure {
  return isLocal(name)
    ? localFailure(name, message, hint)
    : { code: name, message, hint: hint ?? debugHint, a2aCode: null, exitCode: 1 };
}

function isLocal(name: string): name is CliErrorCode {
  return name.startsWith("A2ACLI_ERR_");
}

/** Node's codes of failed look-ups, connections and handshakes. */
const networkCodes =
  /^(?:E(?:CONN(?:REFUSED|RESET|ABORTED)|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE)|UND_ERR_|ERR_(?:TLS|SSL)|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

function isNetworkFailure(error: unknown): boolean {
  return networkCodes.test(codeOf(error) ?? "");
}

/** A server that wants TLS closes a connection that carries plain HTTP. */
function mayWantTls({ url, cause }: CardNotFoundError): boolean {
  return url.startsWith("http:") && /^(?:ECONNRESET|UND_ERR_SOCKET)$/.test(codeOf(cause) ?? "");
}
