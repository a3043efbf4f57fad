import { dirname, resolve } from "node:path";
import { CliError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { findConfigFile } from "./config-file.ts";

/** What `a2a.config.yaml` says about the agent that is served here. */
export interface ServerConfig {
  /** Public URL, without a trailing slash. */
  readonly url: string | undefined;
  /** Port to listen on: that of `url` when it names this machine. */
  readonly port: number | undefined;
  /** File of the store, absolute; `memory` for none. */
  readonly store: string | undefined;
}

/**
 * The `server` of the nearest `a2a.config.yaml`; undefined without one.
 *
 * @throws CliError USAGE when the file is wrong, or asks for credentials of callers, which are not checked yet
 */
export async function readServerConfig(io: Pick<CliIo, "cwd">): Promise<ServerConfig | undefined> {
  const found = await findConfigFile(io.cwd);
  const server = found?.config.server;
  if (found === undefined || server === undefined) return undefined;
  if (server.auth !== undefined) {
    // Serving without it would be open to everybody, which is what the author does not want.
    throw new CliError(
      "A2ACLI_ERR_USAGE",
      `${found.locate(["server", "auth"])}: server.auth asks for credentials of callers, which cannot be checked yet`,
      { hint: "Let a proxy in front check them, listen on localhost only, and take server.auth out." },
    );
  }
  return {
    url: server.url?.replace(/\/+$/, ""),
    port: server.url === undefined ? undefined : localPort(new URL(server.url)),
    store: resolveStore(server.store, dirname(found.path)),
  };
}

function localPort({ hostname, port, protocol }: URL): number | undefined {
  if (!["localhost", "127.0.0.1", "[::1]"].includes(hostname)) return undefined;
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

function resolveStore(store: string | undefined, directory: string): string | undefined {
  return store === undefined || store === "memory" ? store : resolve(directory, store);
}
