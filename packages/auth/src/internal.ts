/**
 * What the server needs of this package and users do not: it may change in any release.
 *
 * @internal
 */

export { Access } from "./access.ts";
export { actionOf } from "./policy.ts";
