import { setServiceParameters } from "@a2a-connect/core";
import type { Transport } from "@connectrpc/connect";
import type { ConnectOptions } from "../options.ts";
import type { Candidate } from "./choose-interfaces.ts";
export interface InterfaceTransport { readonly transport: Transport; readonly current: Candidate; close(): void }
export function openInterfaces(candidates: readonly Candidate[], settings: ConnectOptions): InterfaceTransport {
  const [current] = candidates;
  if (current === undefined) throw new Error("none");
  const opened = current.binding.open({ url: current.interface.url, fetch: settings.fetch ?? settings.platform?.fetch ?? fetch, maxResponseBytes: settings.maxResponseBytes ?? 64 * 1024 * 1024, connectTimeoutMs: 10_000,
    interceptors: [...(settings.interceptors ?? []), (next) => (request) => { setServiceParameters(request.header, { protocolVersion: current.protocolVersion, extensions: settings.extensions ?? [] }); return next(request); }] });
  return { transport: opened.transport, current, close: () => opened.close() };
}
