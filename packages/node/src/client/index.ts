import "../supported-node.ts";

export {
  type AgentClient,
  AgentError,
  type AgentRequirements,
  type Answer,
  AuthRequiredError,
  answerByRules,
  askAgent,
  bytes,
  CallbackError,
  type CallOptions,
  CardDriftError,
  CardExpectationError,
  CardInvalidError,
  CardNotFoundError,
  CardRefusedError,
  type ConnectOptions,
  ContentTooLargeError,
  type FollowOptions,
  file,
  fileUrl,
  type Input,
  type InputMessage,
  InputModeError,
  InputRequiredError,
  type Inspect,
  InvalidResponseError,
  json,
  type ListTasksOptions,
  NoInterfaceError,
  type Question,
  type ReceivedCard,
  RequirementError,
  type Resolver,
  type ResumeOptions,
  type RunOptions,
  type RunResult,
  RunTimeoutError,
  type SendOptions,
  SendUncertainError,
  TaskCanceledError,
  TaskError,
  TaskFailedError,
  TaskRejectedError,
  type TaskStream,
  text,
  UnreachableError,
  UntrustedOutputError,
} from "@a2a-connect/client";
export { visibleText } from "@a2a-connect/core/internal";
export { cardDigest } from "@a2a-connect/signing/canonical";
export { type AskTerminalOptions, askTerminal } from "./ask-terminal.ts";
export { connectAgent, type NodeConnectOptions } from "./connect-from-node.ts";
export { createFileCardMemory } from "./file-card-memory.ts";
export { mediaTypeOf } from "./media-type-of.ts";
export { type NodePlatformOptions, nodePlatform } from "./node-platform.ts";
export {
  createPushReceiver,
  type NodePushReceiver,
  type PushReceiverOptions,
  type PushSubscriptionOptions,
} from "./push-receiver.ts";
export { saveFile } from "./save-file.ts";
export type { ClientTlsOptions } from "./tls-options.ts";
export { uploadFile } from "./upload-file.ts";
