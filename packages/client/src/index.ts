export { bytes, fileUrl, findA2AError, json, text } from "@a2a-connect/core";
export type { AgentClient, TaskStream } from "./agent-client.ts";
export type {
  CallOptions,
  FollowOptions,
  Input,
  InputMessage,
  ListTasksOptions,
  SendOptions,
} from "./call-options.ts";
export { connectAgent } from "./connect-agent.ts";
export { file } from "./content/upload.ts";
export {
  AgentError,
  AuthRequiredError,
  CallbackError,
  CardDriftError,
  CardExpectationError,
  CardInvalidError,
  CardNotFoundError,
  CardRefusedError,
  ContentTooLargeError,
  InputModeError,
  InputRequiredError,
  InvalidResponseError,
  NoInterfaceError,
  QuestionRepeatedError,
  RequirementError,
  RunTimeoutError,
  SendUncertainError,
  TaskCanceledError,
  TaskError,
  TaskFailedError,
  TaskRejectedError,
  UnreachableError,
  UntrustedOutputError,
} from "./errors.ts";
export type { AgentRequirements, ConnectOptions, Inspect, ReceivedCard } from "./options.ts";
export { answerByRules, askAgent } from "./run/resolvers.ts";
export type { Answer, Question, Resolver, ResumeOptions, RunOptions, RunResult } from "./run/run-types.ts";
