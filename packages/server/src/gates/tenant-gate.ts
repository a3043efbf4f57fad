import { a2aError, tenantKey } from "@a2a-connect/core";
import { isReservedTenant } from "@a2a-connect/core/internal";
import type { Message } from "@bufbuild/protobuf";
import type { Gate } from "./gate.ts";

/** Whether there is such a tenant; "" is a request without one. */
export type TenantPredicate = (tenant: string) => boolean;

/**
 * Tells the operations whose tenant a request is for. An unknown one has no tasks and says no more (requirement P-4).
 *
 * @param ownName what the agent is called among others: a request that says so says nothing new
 */
export function tenantGate(isTenant: TenantPredicate, ownName?: string): Gate {
  return ({ request, context }) => {
    const named = tenantOf(request);
    const tenant = named === ownName ? "" : named;
    if ((tenant !== "" && isReservedTenant(tenant)) || !isTenant(tenant)) {
      throw a2aError("TASK_NOT_FOUND", "there is nothing here by that name");
    }
    context.values.set(tenantKey, tenant);
  };
}

/** The tenant that a request names, or "". */
export function tenantOf(request: Message): string {
  return "tenant" in request && typeof request.tenant === "string" ? request.tenant : "";
}
