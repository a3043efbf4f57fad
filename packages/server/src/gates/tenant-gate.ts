import { a2aError, principalKey, tenantKey } from "@a2a-connect/core";
import { isReservedTenant } from "@a2a-connect/core/internal";
import type { Message } from "@bufbuild/protobuf";
import type { Gate } from "./gate.ts";

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
    const tenant = named === ownName || named === "" ? (bound ?? "") : named;
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
