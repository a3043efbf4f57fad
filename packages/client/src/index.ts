export { bytes, fileUrl, json, text, visibleText } from "@a2a-connect/core";
export { cardDigest } from "@a2a-connect/signing/canonical";
export type * from "./agent-client.ts";
export { readCard } from "./card/read-card.ts";
export { type ClientClock, systemClock } from "./clock.ts";
export { connectAgent } from "./connect-agent.ts";
export {
  type ArtifactReader,
  type ArtifactServices,
  createArtifactReader,
  type SaveOptions,
} from "./content/artifact-reader.ts";
export { findUntrustedOutput } from "./content/inspect-interceptor.ts";
export { defaultMaxFileBytes, type FileContent, type FileOptions, file } from "./content/upload.ts";
export * from "./errors.ts";
export type * from "./options.ts";
export type * from "./platform.ts";
export { SilenceError } from "./platform.ts";
export type { PushDelivery, PushReceiver, PushSubscription } from "./run/push-receiver.ts";
export { readQuestion } from "./run/question.ts";
export { type AnswerRule, answerByRules, askAgent } from "./run/resolvers.ts";
export type * from "./run/run-types.ts";
export { webTransports } from "./transports/web-transports.ts";
