import type { HttpRoute } from "./http-rule.ts";
import { methods, type RpcMethod } from "./methods.ts";

/** A request's operation, its route, and the fields in its path (by local name). */
export interface RouteMatch {
  readonly method: RpcMethod;
  readonly route: HttpRoute;
  readonly variables: Readonly<Record<string, string>>;
}

/** A known path that was called with another verb: 405 with these in `Allow`. */
export interface VerbMismatch {
  readonly allow: readonly string[];
}

/** Finds the operation of an HTTP+JSON request. */
export interface RouteTable {
  /**
   * @param verb HTTP method in upper case
   * @param path percent-encoded path below the binding's mount point, without a query
   * @returns undefined for an unknown path (404)
   */
  find(verb: string, path: string): RouteMatch | VerbMismatch | undefined;
}

/**
 * A route table over these operations. When a path matches several routes, the one with fewer variables wins. A
 * reserved name is never a tenant, so a path without a tenant wins over one with a tenant (requirement K-11).
 */
export function createRouteTable(table: Readonly<Record<string, RpcMethod>> = methods): RouteTable {
  const rows = Object.values(table)
    .flatMap((method) => method.routes.map((route) => ({ method, route })))
    .sort((a, b) => a.route.variables.length - b.route.variables.length);
  const suffixes = new Set(rows.map(({ route }) => route.suffix));

  return {
    find(verb, path) {
      // A known suffix decides: `/tasks/:cancel` must not become a task called ":cancel".
      const suffix = /:([^:/]*)$/.exec(path)?.[1];
      const wanted = suffix !== undefined && suffixes.has(suffix) ? suffix : undefined;
      const allow: string[] = [];
      for (const { method, route } of rows) {
        const variables = route.suffix === wanted ? route.match(path) : undefined;
        if (variables === undefined || isReservedTenant(variables["tenant"] ?? "")) {
          continue;
        }
        if (route.verb === verb) {
          return { method, route, variables };
        }
        if (!allow.includes(route.verb)) {
          allow.push(route.verb);
        }
      }
      return allow.length === 0 ? undefined : { allow };
    },
  };
}

/**
 * Whether a tenant of this name would look like a path without a tenant: `tasks`, `extendedAgentCard` and `message:…`
 * (requirement K-11). Such tenants are refused.
 */
export function isReservedTenant(tenant: string): boolean {
  return reservedNames.has(tenant) || reservedPrefixes.some((prefix) => tenant.startsWith(prefix));
}

const rootRoutes = Object.values(methods).flatMap(({ routes }) =>
  routes.filter(({ segments }) => segments[0] !== undefined),
);
const reservedNames: ReadonlySet<string | undefined> = new Set(
  rootRoutes.filter((route) => !endsInFirstSegment(route)).map(({ segments }) => segments[0]),
);
const reservedPrefixes: readonly string[] = [
  ...new Set(rootRoutes.filter(endsInFirstSegment).map(({ segments }) => `${segments[0]}:`)),
];

/** Whether the first segment carries the suffix, as in `/message:send`. */
function endsInFirstSegment({ segments, suffix }: HttpRoute): boolean {
  return segments.length === 1 && suffix !== undefined;
}
