import { a2aError, isReservedTenant, tenantKey } from "@a2a-connect/core";
import type { Gate } from "./gate.ts";

/** Whether there is such a tenant; "" is a request without one. */
export type TenantPredicate = (tenant: string) => boolean;

/** Tells the operations whose tenant a request is for. An unknown one has no tasks and says no more (requirement P-4). */
export function tenantGate(isTenant: TenantPredicate): Gate {
  return ({ request, context }) => {
    const tenant = "tenant" in request && typeof request.tenant === "string" ? request.tenant : "";
    if ((tenant !== "" && isReservedTenant(tenant)) || !isTenant(tenant)) {
      throw a2aError("TASK_NOT_FOUND", "there is nothing here by that name");
    }
    context.values.set(tenantKey, tenant);
  };
}
