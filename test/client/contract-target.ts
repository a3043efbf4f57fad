import type { AgentClient, ConnectOptions } from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import type { StreamResponse } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";

/** What a server has beyond the protocol, and the suite expects only where it is. */
export interface Features {
  /** Streams go on after the number of an event, so that none is ever missing. */
  readonly resume: boolean;
  /** Tasks that end badly say why in words for machines, and carry deadlines and skills (lifecycle extension). */
  readonly lifecycle: boolean;
  /** What came with A2A 1.0: ListTasks, tenants, and webhooks that are told of each event. */
  readonly since1: boolean;
  /** It can be asked for a task without its history. */
  readonly emptyHistory: boolean;
  /** Files have names. */
  readonly filenames: boolean;
  /** The data that it makes. */
  readonly table: JsonObject;
  /** What the client says about the card. Default nothing. */
  readonly cardWarnings?: readonly string[];
}

/** One agent over one of its wires. */
export interface ContractTarget {
  readonly features: Features;
  /** As in its card. */
  readonly binding: string;
  /** Version of A2A, as in its card. */
  readonly version: string;
  /** Base URL, once the server runs. */
  readonly url: () => string;
}

/** A client of the target, over its wire alone. */
export function connectTo(target: ContractTarget, options: ConnectOptions = {}): Promise<AgentClient> {
  return connectAgent(target.url(), { ...pinned(target), retry: { initialDelayMs: 5 }, ...options });
}

/** Options that allow the target's wire and version alone. */
export function pinned({ binding, version }: ContractTarget): ConnectOptions {
  return { pinBinding: binding, pinVersion: version };
}

/** Notes the operations that go out. */
export function noteCalls(into: string[]): Interceptor {
  return (next) => (request) => {
    into.push(request.method.name);
    return next(request);
  };
}

/** The task's id out of whichever event comes first. */
export function taskIdOf({ payload }: StreamResponse): string {
  switch (payload.case) {
    case "task":
      return payload.value.id;
    case "statusUpdate":
    case "artifactUpdate":
      return payload.value.taskId;
    default:
      throw new Error("an event of a task was expected");
  }
}
