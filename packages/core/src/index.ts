export { DecodeError, type DecodeOptions, decodeInSteps, decodeMessage } from "./binary/decode.ts";
export { encodeMessage } from "./binary/encode.ts";
export { bindHttpRequest, type HttpRequestParts, httpRequestParts, isQueryField } from "./bind-request.ts";
export { connectBinding, grpcWebBinding } from "./binding-names.ts";
export {
  type AnswerBudget,
  anonymousPrincipal,
  answerBudgetKey,
  type CallerSource,
  callerKey,
  extensionsKey,
  type ForwardedUrlSource,
  forwardedUrlKey,
  type Principal,
  principalKey,
  protocolVersionKey,
  tenantKey,
} from "./context-keys.ts";
export { encodeDeterministically } from "./deterministic-encoding.ts";
export { draftFields } from "./draft-fields.ts";
export {
  type A2AErrorReason,
  type ErrorEntry,
  errorCatalogue,
  findErrorEntry,
  findReasonByJsonRpcCode,
  genericErrors,
  isA2AErrorReason,
  ownErrorDomain,
  protocolErrorDomain,
} from "./error-catalogue.ts";
export {
  type A2AErrorInfo,
  a2aError,
  bodyTooLarge,
  type FieldViolation,
  findA2AError,
  findFieldViolations,
  formatErrorDetails,
  invalidParams,
  parseErrorDetails,
  toConnectError,
  wireCodes,
} from "./errors.ts";
export { defaultMaxDepth, formatFieldPath, protobufRecursionLimit, tooManyValues } from "./field-walk.ts";
export { formatMessage, formatResponse } from "./format-json.ts";
export type { HttpRoute } from "./http-rule.ts";
export {
  collectSchemas,
  createJsonSchemas,
  describedFields,
  fieldSchema,
  type JsonSchemaOptions,
  type JsonSchemas,
  jsonSchemaOf,
  messageSchema,
  type SchemaPartOptions,
  typeSchema,
} from "./json-schema.ts";
export { type JsonProblem, type JsonText, parseJsonText, readJsonText } from "./json-text.ts";
export {
  type EndReason,
  formatLifecycleReport,
  type LifecycleReport,
  type LifecycleRequest,
  lifecycleExtension,
  type Priority,
  parseLifecycleRequest,
  readLifecycleReport,
  type Usage,
} from "./lifecycle.ts";
export { isLoopbackHost } from "./loopback-host.ts";
export {
  effectiveMediaType,
  type JsonMedia,
  type JsonMediaRequest,
  jsonMediaTypes,
  type MediaType,
  matchesMediaType,
  negotiateErrorMedia,
  negotiateJsonMedia,
  parseJsonMedia,
  parseMediaType,
} from "./media-type.ts";
export {
  byteLength,
  encodeInSteps,
  formatAnswer,
  formatOnce,
  isLarge,
} from "./message-pieces.ts";
export { type MethodLocalName, type MethodName, methodByName, methods, type RpcMethod } from "./methods.ts";
export { findWrongFields, type ParseMessageOptions, parseMessage } from "./parse-json.ts";
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
export { findMissingFields, isRequiredField } from "./required-fields.ts";
export {
  createRouteTable,
  isReservedTenant,
  type RouteMatch,
  type RouteTable,
  type VerbMismatch,
} from "./route-table.ts";
export { type JsonDefect, type ScanJsonOptions, scanJson } from "./scan-json.ts";
export {
  absentProtocolVersion,
  draftProtocolVersion,
  extensionsHeader,
  formatExtensions,
  idempotencyKeyHeader,
  lastEventIdHeader,
  parseExtensions,
  parseProtocolVersion,
  protocolVersion,
  readExtensions,
  readProtocolVersion,
  type ServiceParameters,
  setServiceParameters,
  versionHeader,
} from "./service-parameters.ts";
export { applyStep, copyTask, findArtifact, type TaskStep } from "./task-reducer.ts";
export {
  canTransition,
  findTaskPhase,
  formatTaskState,
  isInterrupted,
  isSettled,
  isTerminal,
  type TaskPhase,
} from "./task-state.ts";
export { escapeInvisible, isShowable, shownText, shownUrl, visibleText } from "./visible-text.ts";
