import { isReservedTenant } from "@a2a-connect/core/internal";

/** Lower-case words: the same in a URL, as a tenant, and as a file's name on systems that ignore case. */
const form = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;

/**
 * Tests the name of one of several agents: lower-case letters and digits, with single hyphens or underscores between
 * them, at most 64 characters, and no name with which a path without a tenant begins (requirement K-11).
 *
 * @throws Error that says what is wrong with the name
 */
export function assertAgentName(name: string): void {
  if (name.length > 64 || !form.test(name)) {
    throw new Error(
      `an agent's name has up to 64 lower-case letters, digits, and single "-" or "_" between them; ${JSON.stringify(name)} does not fit`,
    );
  }
  if (isReservedTenant(name)) {
    throw new Error(
      `an agent cannot be called ${JSON.stringify(name)}: paths without a tenant begin like that`,
    );
  }
}
