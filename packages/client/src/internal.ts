/**
 * What the packages of this project share and users do not need: it may change in any release.
 *
 * @internal
 */
export type { TaskPage } from "./agent-client.ts";
export type { PushConfigInput } from "./call-options.ts";
export { findCardText } from "./card/card-resolver.ts";
export { readLifecycleParams } from "./card/lifecycle-params.ts";
export { readOlderCard } from "./card/older-card.ts";
export { readCard } from "./card/read-card.ts";
export { type ClientClock, systemClock } from "./clock.ts";
export type { ArtifactReader } from "./content/artifact-reader.ts";
export type { FileOptions } from "./content/upload.ts";
export type { PushDelivery, PushReceiver, PushSubscription } from "./follow/sources/push-receiver.ts";
export { weigh } from "./follow/task-size.ts";
export { createPages } from "./operations/pages.ts";
export {
  type BindingTransport,
  type BindingTransportSettings,
  type ClientPlatform,
  type OpenTransport,
  type SaveFile,
  SilenceError,
  type WireExchange,
} from "./platform.ts";
export { readQuestion } from "./run/question.ts";
export { jsonTransports, loadedTransport } from "./transports/json-transports.ts";
export { webTransports } from "./transports/web-transports.ts";
