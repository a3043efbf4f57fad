import type { AgentClient, ConnectOptions } from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import type { StreamResponse } from "@a2a-connect/proto";
import type { Interceptor } from "@connectrpc/connect";

/** What a server has beyond the protocol, and the suite expects only where it is. */
export interface Features {
  /** Streams go on after the number of an event, so that none is ever missing. */
  readonly resume: boolean;
  /** Tasks that end badly say why in words for machines, and carry deadlines and skills (lifecycle extension). */
  readonly lifecycle: boolean;
}

/** One agent over one of its wires. */
export interface ContractTarget {
  readonly features: Features;
  /** As in its card. */
  readonly binding: string;
  /** Base URL, once the server runs. */
  readonly url: () => string;
}

/** A client of the target, over its wire alone. */
export function connectTo(
  { url, binding }: ContractTarget,
  options: ConnectOptions = {},
): Promise<AgentClient> {
  return connectAgent(url(), { pinBinding: binding, retry: { initialDelayMs: 5 }, ...options });
}

/** Notes the operations that go out. */
export function noteCalls(into: string[]): Interceptor {
  return (next) => (request) => {
    into.push(request.method.name);
    return next(request);
  };
}

/** What an iterable gives, to its end. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** What a promise is rejected with. */
export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error("it went well"),
    (error: unknown) => error,
  );
}

/** Resolves with the error when the promise is rejected with one of that class; fails the test otherwise. */
export async function rejectedWith<Type extends abstract new (...args: never[]) => Error>(
  promise: Promise<unknown>,
  type: Type,
): Promise<InstanceType<Type>> {
  const thrown = await failureOf(promise);
  if (thrown instanceof type) return thrown as InstanceType<Type>; // which narrows to Error only
  throw thrown;
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
