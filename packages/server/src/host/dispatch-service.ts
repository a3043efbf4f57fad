import { type BoundMethod, bindMethod } from "@a2a-connect/bindings/server";
import { a2aError, invalidParams, type MethodLocalName, methods } from "@a2a-connect/core";
import {
  A2AService,
  ListTaskPushNotificationConfigsResponseSchema,
  TaskPushNotificationConfigSchema,
} from "@a2a-connect/proto";
import { isMessage, type Message } from "@bufbuild/protobuf";
import type { HandlerContext, Interceptor, MethodImplSpec, ServiceImplSpec } from "@connectrpc/connect";
import { tenantOf } from "../gates/protocol-gates.ts";

/** An agent that gets calls. */
export interface DispatchTarget {
  readonly service: ServiceImplSpec;
  /** Run around each of its calls, the first one outermost, as on the wires below its own path. */
  readonly interceptors: readonly Interceptor[];
}

/** The URL of the list of all agents. It is public, so an error may name it. */
const listed = "the agents are listed at /.well-known/ai-catalog.json";

/**
 * One service in front of several agents: the request's `tenant` names the agent that answers. The agent gets the call
 * without it, as its own (requirements P-2, P-5); answers that contain a tenant have the name again. Interceptors and
 * gates are those of the chosen agent.
 *
 * An unknown name is not found (requirement P-4). A call without a name goes to the default agent; without one,
 * InvalidParams says what to send.
 */
export function dispatchService(
  targets: ReadonlyMap<string, DispatchTarget>,
  defaultName: string | undefined,
): ServiceImplSpec {
  const implementations = Object.values(methods).map(({ localName, desc }): [string, MethodImplSpec] => {
    if (desc.methodKind === "unary") {
      const choose = chooser(bindAll(localName, "unary", targets), defaultName);
      const impl = async (request: Message, context: HandlerContext) =>
        withTenant(await choose(request).call(withoutTenant(request), context), tenantOf(request));
      return [localName, { kind: "unary", method: desc, impl }];
    }
    const choose = chooser(bindAll(localName, "stream", targets), defaultName);
    const impl = (request: Message, context: HandlerContext) => {
      const chosen = choose(request);
      return { [Symbol.asyncIterator]: () => chosen.call(withoutTenant(request), context) };
    };
    return [localName, { kind: "server_streaming", method: desc, impl }];
  });
  return { service: A2AService, methods: Object.fromEntries(implementations) };
}

type Kind = BoundMethod["kind"];
type Bound<K extends Kind> = Extract<BoundMethod, { kind: K }>;

/** Every agent's implementation of one operation, with its interceptors around it. */
function bindAll<K extends Kind>(
  localName: MethodLocalName,
  kind: K,
  targets: ReadonlyMap<string, DispatchTarget>,
): ReadonlyMap<string, Bound<K>> {
  const all = new Map<string, Bound<K>>();
  for (const [name, { service, interceptors }] of targets) {
    const implementation = service.methods[localName];
    const bound = implementation && bindMethod(implementation, interceptors);
    if (bound === undefined || !isOfKind(bound, kind)) {
      throw new Error(`the agent ${JSON.stringify(name)} does not implement ${localName}`);
    }
    all.set(name, bound);
  }
  return all;
}

function isOfKind<K extends Kind>(bound: BoundMethod, kind: K): bound is Bound<K> {
  return bound.kind === kind;
}

/** The implementation of the agent that answers a request. */
function chooser<B extends BoundMethod>(
  bound: ReadonlyMap<string, B>,
  defaultName: string | undefined,
): (request: Message) => B {
  const fallback = defaultName === undefined ? undefined : bound.get(defaultName);
  return (request) => {
    const name = tenantOf(request);
    const chosen = name === "" ? fallback : bound.get(name);
    if (chosen !== undefined) {
      return chosen;
    }
    throw name === ""
      ? invalidParams({ field: "tenant", description: `must name one of several agents; ${listed}` })
      : a2aError("TASK_NOT_FOUND", `there is nothing here by that name; ${listed}`);
  };
}

/** The agent answers as if it were alone. Its caller must be able to use the tenant in the answer for further calls. */
function withTenant(response: Message, tenant: string): Message {
  if (isMessage(response, TaskPushNotificationConfigSchema)) {
    return Object.assign({}, response, { tenant });
  }
  return isMessage(response, ListTaskPushNotificationConfigsResponseSchema)
    ? Object.assign({}, response, { configs: response.configs.map((config) => ({ ...config, tenant })) })
    : response;
}

function withoutTenant(request: Message): Message {
  return tenantOf(request) === "" ? request : Object.assign({}, request, { tenant: "" });
}
