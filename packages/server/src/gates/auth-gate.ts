import type { Caller, Credentials, Resource } from "@a2a-connect/auth";
import type { Access } from "@a2a-connect/auth/internal";
import { a2aError, methodByName, principalKey, tenantKey } from "@a2a-connect/core";
import { type ForwardedUrlSource, runtimeKey } from "@a2a-connect/core/internal";
import { type ContextKey, createContextKey, type HandlerContext } from "@connectrpc/connect";
import { type CallerNames, callerNamesKey } from "./caller-names.ts";
import type { Gate, GatedCall } from "./protocol-gates.ts";

/** The caller whose credentials were checked; undefined where none are asked for. */
export const verifiedCallerKey: ContextKey<Caller | undefined> = createContextKey<Caller | undefined>(
  undefined,
  { description: "a2a verified caller" },
);

/** Refuses messages for a skill that the caller may not use. */
export type SkillGuard = (skill: NonNullable<Resource["skill"]>) => void;

/** The guard of a call; undefined where all callers may use all skills. */
export const skillGuardKey: ContextKey<SkillGuard | undefined> = createContextKey<SkillGuard | undefined>(
  undefined,
  { description: "a2a skill guard" },
);

/**
 * Lets callers pass that are who they say, and tells the operations who they are.
 *
 * @param metadataUrl returns where clients find the authorization servers, for a caller by that forwarded URL
 */
export function authGate(
  { authenticator }: Access,
  callerNames: CallerNames,
  metadataUrl: MetadataUrl,
): Gate {
  const admit = ({ values }: HandlerContext, caller: Caller): void => {
    const { principal, tenant, scopes, claims } = caller;
    values.set(verifiedCallerKey, caller);
    values.set(principalKey, { id: principal, anonymous: false, tenant, scopes, claims });
    values.set(callerNamesKey, callerNames);
  };
  return ({ context }) => {
    if (context.values.get(verifiedCallerKey) !== undefined) {
      return undefined; // an operation of an older version calls another one
    }
    const caller = authenticator.authenticate(new CallCredentials(context, metadataUrl));
    return caller instanceof Promise ? caller.then((found) => admit(context, found)) : admit(context, caller);
  };
}

/**
 * Lets callers do what they may. It comes after all other gates and before anything is looked up, so that its answer tells
 * nothing about tasks of others (requirement O-3).
 */
export function accessGate(access: Access): Gate {
  return ({ method, request, context }) => {
    const { values } = context;
    const caller = values.get(verifiedCallerKey);
    if (caller !== undefined) {
      // Of an older version's operation, which calls others, its own scope is needed and no other's.
      const called = methodByName(context.method.name) ?? method;
      const resource = { tenant: values.get(tenantKey), taskId: taskOf(request) };
      if (caller.taskId !== undefined && registersWebhook(request)) {
        throw a2aError(
          "PERMISSION_DENIED",
          "a token for one task registers no webhook, which would outlive it",
        );
      }
      access.authorize(caller, called, resource);
      values.set(skillGuardKey, (skill) => access.authorize(caller, called, { ...resource, skill }));
    }
  };
}

/** The task that a request names, or "". */
export function taskOf(request: GatedCall["request"]): string {
  const named = request as {
    readonly taskId?: string;
    readonly id?: string;
    readonly message?: { taskId?: string };
  }; // all requests
  return named.taskId ?? named.message?.taskId ?? named.id ?? "";
}

function registersWebhook(request: GatedCall["request"]): boolean {
  const { configuration } = request as { readonly configuration?: { taskPushNotificationConfig?: object } };
  return configuration?.taskPushNotificationConfig !== undefined;
}

type MetadataUrl = (reached: ForwardedUrlSource) => string | undefined;

/** The sender of a call, as gates see it. A class because of its getters: see `CallContext`. */
class CallCredentials implements Credentials {
  readonly header: Headers;
  readonly url: string;
  readonly #context: HandlerContext;
  readonly #values: HandlerContext["values"];
  readonly #metadataUrl: MetadataUrl;

  constructor(context: HandlerContext, metadataUrl: MetadataUrl) {
    this.header = context.requestHeader;
    this.url = context.url;
    this.#context = context;
    this.#values = context.values;
    this.#metadataUrl = metadataUrl;
  }

  countFields(name: string): number {
    return this.#values.get(runtimeKey).countFields?.(name) ?? (this.header.has(name) ? 1 : 0);
  }

  get certificate(): Credentials["certificate"] {
    return this.#values.get(runtimeKey).clientCertificate;
  }

  get share(): string | undefined {
    return this.#values.get(runtimeKey).callerNetwork;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  get metadataUrl(): string | undefined {
    return this.#metadataUrl(this.#values.get(runtimeKey));
  }
}
