import {
  type A2AErrorReason,
  a2aError,
  invalidParams,
  type MethodLocalName,
  principalKey,
  type RpcMethod,
  tenantKey,
} from "@a2a-connect/core";
import {
  extensionsHeader,
  extensionsKey,
  findMissingFields,
  formatExtensions,
  isReservedTenant,
  ownText,
  protocolVersionKey,
  readExtensions,
  readProtocolVersion,
  refuseQuery,
  versionHeader,
} from "@a2a-connect/core/internal";
import type { AgentCapabilities, AgentExtension, SendMessageRequest } from "@a2a-connect/proto";
import type { Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";

/**
 * A gate tests a call before its operation runs, and throws a ConnectError to refuse it. It may set context values. One that has
 * to wait returns a promise; all others cost no turn of the event loop.
 */
export type Gate = (call: GatedCall) => void | Promise<void>;

/** A call in the form for gates, the same on every wire. */
export interface GatedCall {
  readonly method: RpcMethod;
  readonly request: Message;
  readonly context: HandlerContext;
}

/** The supported versions. */
export interface VersionOptions {
  /** `Major.Minor`, best first. */
  readonly protocolVersions: readonly string[];
  /** The version of a request that names none. Default: 0.3, as the specification says (requirement F-4). */
  readonly assumeVersion: string | undefined;
}

/** Refuses unsupported versions, and tells the operations the version of the call (spec §3.6.2). */
export function versionGate({ protocolVersions, assumeVersion }: VersionOptions): Gate {
  const supportedVersions = protocolVersions.join(",");
  return ({ context }) => {
    const query = queryOf(context);
    const absent = !context.requestHeader.get(versionHeader) && !query?.get(versionHeader);
    const version =
      absent && assumeVersion !== undefined
        ? assumeVersion
        : readProtocolVersion(context.requestHeader, query);
    if (!protocolVersions.includes(version)) {
      const asked = absent
        ? "a request without a version means 0.3"
        : `version ${JSON.stringify(version)} was asked for`;
      throw a2aError(
        "VERSION_NOT_SUPPORTED",
        `${asked}, and this interface speaks ${supportedVersions}: send the header "${versionHeader}: ${protocolVersions[0]}"`,
        { supportedVersions },
      );
    }
    context.values.set(protocolVersionKey, version);
  };
}

/** The query may contain service parameters (requirement F-3). @throws ConnectError when it has too many parameters */
function queryOf({ url }: Pick<HandlerContext, "url">): URLSearchParams | undefined {
  const start = url.indexOf("?");
  if (start === -1) return undefined;
  const text = url.slice(start);
  const refusal = refuseQuery(text);
  if (refusal !== undefined) throw refusal;
  return new URLSearchParams(text);
}

/** Extensions as a card declares them. */
type Declared = readonly Pick<AgentExtension, "uri" | "required">[];

/**
 * Activates the extensions that the caller asks for and the card declares, echoes them, and refuses calls that lack a
 * required one (spec §3.3.4, §4.6; requirements G-2 to G-5). It ignores unknown ones.
 *
 * @param declaredNow returns what the card declares: the same array until that changes
 */
export function extensionGate(declaredNow: () => Declared): Gate {
  let rules = toRules(declaredNow());
  return ({ context }) => {
    const declared = declaredNow();
    if (rules.declared !== declared) {
      rules = toRules(declared);
    }
    const { known, required } = rules;
    const asked = readExtensions(context.requestHeader, queryOf(context));
    const active = asked.flatMap((uri) => known.get(uri) ?? []);
    const missing = required.filter((uri) => !active.includes(uri));
    if (missing.length > 0) {
      throw a2aError(
        "EXTENSION_SUPPORT_REQUIRED",
        `this agent requires extensions: send the header "${extensionsHeader}: ${missing.join(",")}"`,
        { requiredExtensions: missing.join(",") },
      );
    }
    context.values.set(extensionsKey, active);
    const echo = formatExtensions(active);
    if (echo !== undefined) {
      context.responseHeader.set(extensionsHeader, echo);
    }
  };
}

function toRules(declared: Declared): {
  readonly declared: Declared;
  /** By the same text: that of a caller is a slice of its header, and a task that keeps it would keep the header. */
  readonly known: ReadonlyMap<string, string>;
  readonly required: readonly string[];
} {
  return {
    declared,
    known: new Map(declared.map(({ uri }) => [uri, uri])),
    required: declared.filter((extension) => extension.required).map(({ uri }) => uri),
  };
}

type Capability = Exclude<keyof AgentCapabilities, "extensions" | "$typeName" | "$unknown">;

/** Which capability an operation needs, and the error without it (spec §3.3.4). The others need none. */
const needs: Readonly<Partial<Record<MethodLocalName, readonly [Capability, A2AErrorReason]>>> = {
  sendStreamingMessage: ["streaming", "UNSUPPORTED_OPERATION"],
  subscribeToTask: ["streaming", "UNSUPPORTED_OPERATION"],
  createTaskPushNotificationConfig: ["pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  getTaskPushNotificationConfig: ["pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  listTaskPushNotificationConfigs: ["pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  deleteTaskPushNotificationConfig: ["pushNotifications", "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  getExtendedAgentCard: ["extendedAgentCard", "UNSUPPORTED_OPERATION"],
};

/** Refuses operations whose capability the card does not declare. */
export function capabilityGate(capabilities: AgentCapabilities): Gate {
  return ({ method }) => {
    const need = needs[method.localName];
    if (need !== undefined && capabilities[need[0]] !== true) {
      throw a2aError(need[1], `the agent card does not declare the capability "${need[0]}"`);
    }
  };
}

/**
 * Refuses requests that lack a REQUIRED field, or have more parts than `maxParts` (requirements A-13, H-7). All wires
 * need this gate, because proto3 itself has no required fields.
 */
export function fieldGate(maxParts: number): Gate {
  return ({ method, request }) => {
    const missing = findMissingFields(method.desc.input, request);
    if (missing.length > 0) {
      throw invalidParams(missing);
    }
    const parts = isSend(request) ? (request.message?.parts.length ?? 0) : 0;
    if (parts > maxParts) {
      throw invalidParams({
        field: "message.parts",
        description: `has ${parts} parts; at most ${maxParts} are taken`,
      });
    }
  };
}

function isSend(request: { readonly $typeName: string }): request is SendMessageRequest {
  return request.$typeName === "lf.a2a.v1.SendMessageRequest";
}

/** Whether a tenant exists; "" is a request without one. */
export type TenantPredicate = (tenant: string) => boolean;

/**
 * Tells the operations the tenant of a request. An unknown tenant has no tasks and gets no other error (requirement
 * P-4); nor does another tenant than that of the caller's credentials. A request without one means the credentials' tenant.
 *
 * @param ownName the agent's name among several agents: as a tenant it has no effect
 */
export function tenantGate(isTenant: TenantPredicate, ownName?: string): Gate {
  return ({ request, context }) => {
    const named = tenantOf(request);
    const { tenant: bound } = context.values.get(principalKey);
    // Of a slice of a URL a copy: a task keeps its tenant, and would keep the URL.
    const tenant = named === ownName || named === "" ? (bound ?? "") : ownText(named);
    const isForeign = bound !== undefined && bound !== tenant;
    if (isForeign || (tenant !== "" && isReservedTenant(tenant)) || !isTenant(tenant)) {
      throw a2aError("TASK_NOT_FOUND", "there is nothing here by that name");
    }
    context.values.set(tenantKey, tenant);
  };
}

/** The tenant that a request names, or "". */
export function tenantOf(request: Message): string {
  return "tenant" in request && typeof request.tenant === "string" ? request.tenant : "";
}
