export { type Listener, listen } from "./listen.ts";
export type { CloseOptions, ListenOptions } from "./listen-options.ts";
export { type ServedAgent, type ServeOptions, serve } from "./serve.ts";
export { type Closable, type ShutdownHook, type ShutdownOptions, shutdownOnSignal } from "./shutdown.ts";
