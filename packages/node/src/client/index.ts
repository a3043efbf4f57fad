export * from "@a2a-connect/client";
export { connectAgent, type NodeConnectOptions } from "./connect-agent.ts";
export { type NodePlatformOptions, nodePlatform } from "./node-platform.ts";
export { saveFile } from "./save-file.ts";
export type { ClientTlsOptions } from "./tls-options.ts";
