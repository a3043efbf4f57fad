import { type BindingTransport, type ClientPlatform, webTransports } from "@a2a-connect/client/internal";
import type { TextSink } from "../cli-io.ts";
import { toText } from "../output.ts";
import type { Settings } from "../settings/settings.ts";
import { logCalls } from "./call-log.ts";
import { logFetch } from "./fetch-log.ts";
import { maskSettings } from "./mask-settings.ts";
import type { WireLogSink } from "./wire-log-sink.ts";

/**
 * What goes over the wire, on stderr (`--debug`): requests and responses with headers, bodies and times. Where the wire is
 * binary its messages are shown as JSON instead of its bytes. Credentials are masked, whatever else is asked for.
 */
export interface WireLog {
  /** Logs requests by `fetch`: cards, and every binding but gRPC. */
  wrapFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch;
  /** Logs the messages of binary bindings, and which binding is used, below everything that changes a call. */
  wrapPlatform(platform: ClientPlatform): ClientPlatform;
}

/** The log of one run. */
export function createWireLog(stderr: TextSink, settings: Settings): WireLog {
  let count = 0;
  const sink: WireLogSink = {
    line: (text) => {
      stderr.write(`debug: ${toText(text).replaceAll("\n", "\ndebug:   ")}\n`).catch(() => {}); // nobody reads it
    },
    nextId: () => {
      count += 1;
      return count;
    },
    masking: maskSettings(settings),
  };
  return {
    wrapFetch: (fetch) => logFetch(fetch, sink),
    wrapPlatform: (platform) => ({
      ...platform,
      transports: [...(platform.transports ?? []), ...webTransports].map((wire) => logTransport(wire, sink)),
    }),
  };
}

function logTransport(wire: BindingTransport, sink: WireLogSink): BindingTransport {
  const { binding } = wire;
  return {
    binding,
    open(options) {
      sink.line(`calls go to ${sink.masking.url(options.url)} by ${binding}`);
      // What the JSON wires send is text for fetch to log; gRPC has no fetch, and so nobody else to log its headers.
      const interceptors = ["JSONRPC", "HTTP+JSON"].includes(binding)
        ? options.interceptors
        : [...options.interceptors, logCalls(sink, { heads: binding === "GRPC" })];
      return wire.open({ ...options, interceptors });
    },
  };
}
