import { writeFileSync } from "node:fs";
import { arrivals } from "../agents/arrivals.ts";

/** Where a server of the bench is reached. All of it is on 127.0.0.1. */
export interface Target {
  /** Port of JSON-RPC, HTTP+JSON, and, on our side, Connect and gRPC-Web. */
  readonly httpPort: number;
  /** Port of gRPC; on our side the same one. */
  readonly grpcPort: number;
  readonly jsonRpcPath: string;
  readonly httpJsonPath: string;
  /** What calls send as `authorization`. Default: nothing. */
  readonly authorization?: string;
}

/** What a server's process has used so far. */
export interface Usage {
  /** CPU time of all its threads, user and system, in microseconds. */
  readonly cpuUs: number;
  /** Resident memory in bytes. */
  readonly rssBytes: number;
  /** The most it was since the last garbage collection that the bench asked for (Linux; elsewhere since the start). */
  readonly peakRssBytes: number;
  /** Used part of the JavaScript heap in bytes. */
  readonly heapBytes: number;
  /** Executors that have come to where they wait for long, in this process. */
  readonly arrived: number;
}

/** From the bench to a server. */
export type ControlRequest = "usage" | "collect" | "stop";

/** From a server to the bench. */
export type ControlReply =
  | { readonly kind: "ready"; readonly target: Target }
  | { readonly kind: "usage"; readonly usage: Usage };

/**
 * Tells the bench where this server is and answers its questions. Ends the process when it is told to, or when the
 * bench is gone.
 */
export function answerControl(target: Target): void {
  process.on("message", (request: ControlRequest) => {
    switch (request) {
      case "usage":
        reply({ kind: "usage", usage: readUsage() });
        break;
      case "collect":
        globalThis.gc?.();
        globalThis.gc?.();
        forgetPeak();
        reply({ kind: "usage", usage: readUsage() });
        break;
      case "stop":
        process.exit(0);
    }
  });
  process.on("disconnect", () => process.exit(0));
  reply({ kind: "ready", target });
}

function reply(message: ControlReply): void {
  process.send?.(message);
}

function readUsage(): Usage {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const peakRssBytes = process.resourceUsage().maxRSS * 1_024;
  return { cpuUs: user + system, rssBytes: rss, peakRssBytes, heapBytes: heapUsed, arrived: arrivals() };
}

/** From here on the most resident memory is counted anew (proc(5), clear_refs). */
function forgetPeak(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // no Linux
  }
}
