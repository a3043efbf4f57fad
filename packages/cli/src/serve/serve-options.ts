import type { ServeOptions } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import type { ServerConfig } from "../settings/server-config.ts";

/** Where `a2a serve` listens when nobody says. */
export const servePort = 4000;

/** What `a2a serve` may be told on the command line. */
export interface ServeFlags {
  readonly port?: number;
  readonly host?: string;
  /** File of the task store. */
  readonly db?: string;
  readonly store?: "sqlite" | "memory";
  readonly watch?: boolean;
}

/** Flags before the configuration file before the defaults. */
export function toServeOptions(flags: ServeFlags, config: ServerConfig | undefined): ServeOptions {
  // Another port than that of a URL on this machine makes the URL wrong.
  const moved = flags.port !== undefined && config?.port !== undefined && flags.port !== config.port;
  const file = flags.db ?? (flags.store === undefined ? config?.store : flags.store);
  return {
    port: flags.port ?? config?.port ?? servePort,
    ...(flags.host === undefined ? {} : { host: flags.host }),
    ...(config?.url === undefined || moved ? {} : { publicUrl: config.url }),
    ...storeOptions(file),
  };
}

/** @param store `memory`, `sqlite` for a file by the agent's name, or a file */
function storeOptions(store: string | undefined): Pick<ServeOptions, "file" | "store"> {
  switch (store) {
    case "memory":
      return { store: createMemoryTaskStore() };
    case "sqlite":
    case undefined:
      return {};
    default:
      return { file: store };
  }
}
