/**
 * What the packages of this project share and users do not need: it may change in any release.
 *
 * @internal
 */

export { ByteBuffer, type ChunkedBody, chunksOf, joinBytes, readAtMost } from "./async/bytes.ts";
export { LinkedAbort } from "./async/linked-abort.ts";
export { type Reader, ReadTurns, type TurnOptions } from "./async/read-turns.ts";
export { SharedRequest } from "./async/shared-request.ts";
export { inThreadTurn } from "./async/thread-turns.ts";
export { callUnawaited } from "./async/unawaited.ts";
export {
  afterMicrotasks,
  afterTurn,
  isAccepting,
  longestTimerMs,
  pause,
  setAccepting,
  settleAll,
  startTimer,
  type Timer,
  untilAborted,
  withinTime,
} from "./async/waiting.ts";
export { type TurnClock, Wakes } from "./async/wakes.ts";
export { formatBase64, parseBase64 } from "./base64.ts";
export { decodeInSteps, decodeMessage } from "./binary/decode.ts";
export { encodeDeterministically, encodeInSteps, encodeMessage } from "./binary/encode.ts";
export { DecodeError, type DecodeOptions } from "./binary/input.ts";
export { bindHttpRequest, type HttpRequestParts, httpRequestParts, isQueryField } from "./bind-request.ts";
export type { CallCredentials, CredentialCall, CredentialSource } from "./call-credentials.ts";
export { CallerQueue, countFirst } from "./caller-queue.ts";
export {
  type CallRuntime,
  type ClientCertificate,
  extensionsKey,
  type ForwardedUrlSource,
  type MountPoint,
  protocolVersionKey,
  runtimeKey,
  unsentKey,
} from "./context-keys.ts";
export { dropUndefined } from "./drop-undefined.ts";
export {
  errorCatalogue,
  findReasonByJsonRpcCode,
  isA2AErrorReason,
  protocolErrorDomain,
} from "./error-catalogue.ts";
export { formatErrorDetails, parseErrorDetails } from "./error-details.ts";
export { bodyTooLarge, toConnectError, wireCodes } from "./errors.ts";
export {
  defaultMaxDepth,
  type FieldWalk,
  formatFieldPath,
  report,
  reportAt,
  startWalk,
  tooManyValues,
} from "./field-walk.ts";
export {
  type Freshness,
  longestLifetimeMs,
  longestVerifiedLifetimeMs,
  readFreshness,
} from "./freshness.ts";
export { heapLimit, scaleToHeap } from "./heap.ts";
export type { HttpRoute } from "./http-rule.ts";
export { formatMessage, formatResponse } from "./json/format-json.ts";
export { toTimestamp } from "./json/json-scalar.ts";
export {
  collectSchemas,
  describedFields,
  fieldSchema,
  type JsonSchemas,
  jsonSchemaOf,
  messageSchema,
  type SchemaPartOptions,
  typeSchema,
} from "./json/json-schema.ts";
export { type JsonText, parseJsonText, readJsonText } from "./json/json-text.ts";
export {
  fromJsonValue,
  isObject,
  KnownValues,
  maxNameLength,
  mayBeIndex,
  mergeMembers,
  packIndexes,
  setMember,
  toJsonValue,
  toTable,
} from "./json/json-value.ts";
export { findMemberText } from "./json/member-text.ts";
export { formatAnswer, formatLazily, formatOnce } from "./json/message-text.ts";
export { findWrongFields, parseMessage } from "./json/parse-json.ts";
export { countValues, type JsonDefect, scanJson } from "./json/scan-json.ts";
export {
  formatJsonInPieces,
  formatString,
  type LazyJson,
  LazyList,
  type LazyObject,
} from "./json/value-text.ts";
export { KeptTexts } from "./kept-texts.ts";
export { formatLifecycleReport, type LifecycleRequest, parseLifecycleRequest } from "./lifecycle.ts";
export {
  effectiveMediaType,
  type JsonMedia,
  type JsonMediaRequest,
  jsonMediaTypes,
  matchesMediaType,
  negotiateErrorMedia,
  negotiateJsonMedia,
  parseJsonMedia,
  parseMediaType,
} from "./media-type.ts";
export { containerValues, isLarge, type JsonSize, sizeOfJson, sizeOfValue } from "./message-weight.ts";
export { ownText } from "./own-text.ts";
export { RecentMap } from "./recent-map.ts";
export { findMissingFields, isRequiredField, maxIdLength } from "./required-fields.ts";
export { createRouteTable, isReservedTenant, type RouteMatch } from "./route-table.ts";
export { isSame } from "./same.ts";
export {
  absentProtocolVersion,
  connectBinding,
  draftFields,
  draftProtocolVersion,
  extensionsHeader,
  formatExtensions,
  grpcWebBinding,
  idempotencyKeyHeader,
  lastEventIdHeader,
  parseExtensions,
  parseProtocolVersion,
  protocolVersion,
  readExtensions,
  readProtocolVersion,
  refuseQuery,
  setServiceParameters,
  versionHeader,
} from "./service-parameters.ts";
export { constantTimeEqual, formatHex, parseHex, sha256, sha256Hex } from "./sha256.ts";
export { type Holding, SharedBudget, type SharedBudgetOptions, shareByLimits } from "./shared-budget.ts";
export { applyStep, copyTask, findArtifact, shareTask, type TaskStep } from "./task-reducer.ts";
export { findTaskPhase, stateOf, statusOfEvent } from "./task-state.ts";
export { bytesBeyondUtf8, TextSizes, textBytes } from "./text-size.ts";
export {
  escapeInvisible,
  isShowable,
  shownItems,
  shownList,
  shownText,
  shownUrl,
  visibleBeginning,
  visibleText,
} from "./visible-text.ts";
export {
  foreignOriginOf,
  isLoopbackHost,
  maxAuthorityLength,
  parseForeignUrl,
  parseHttpUrl,
  trimEndOf,
  trimSlashes,
} from "./web-url.ts";
