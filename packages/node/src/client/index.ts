export * from "@a2a-connect/client";
export { type AskTerminalOptions, askTerminal } from "./ask-terminal.ts";
export { connectAgent, type NodeConnectOptions } from "./connect-agent.ts";
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
