export { anonymousPrincipal, type Principal, principalKey, tenantKey } from "./context-keys.ts";
export type { A2AErrorReason } from "./error-catalogue.ts";
export {
  type A2AErrorInfo,
  a2aError,
  type FieldViolation,
  findA2AError,
  findFieldViolations,
  invalidParams,
} from "./errors.ts";
export {
  type EndReason,
  type LifecycleReport,
  lifecycleExtension,
  type Priority,
  readLifecycleReport,
  type Usage,
} from "./lifecycle.ts";
export { type MethodLocalName, type MethodName, methodByName, methods, type RpcMethod } from "./methods.ts";
export {
  agentMessage,
  bytes,
  fileUrl,
  json,
  type MessageDetails,
  type PartDetails,
  partText,
  text,
  userMessage,
} from "./parts.ts";
export { canTransition, formatTaskState, isInterrupted, isSettled, isTerminal } from "./task-state.ts";
