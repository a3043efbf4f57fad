import { isReservedTenant } from "@a2a-connect/core/internal";

/** Lower-case words: the same in a URL, as a tenant, and as the name of a file wherever case makes no difference. */
const form = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;

/**
 * Checks what an agent is to be called among others: lower-case letters and digits, with single hyphens or underscores
 * between them, at most 64 characters, and no name that a path without a tenant begins with (requirement K-11).
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
