import type { Gates } from "@a2a-connect/auth";
import { anonymousPrincipal, type Principal, principalKey } from "@a2a-connect/core";
import { runtimeKey } from "@a2a-connect/core/internal";
import { type ContextKey, createContextKey, type HandlerContext } from "@connectrpc/connect";

/** The names of an agent's callers, in all that callers of the process have together. */
export interface CallerNames {
  /**
   * The name of a caller: its principal, or without credentials its network. Undefined when neither is known.
   *
   * @param network an IPv4 address, or an IPv6 network
   */
  ofCall(principal: Principal, network: string | undefined): string | undefined;
  /**
   * The caller by its credentials, for work without its call. Callers without credentials are one caller then: without a bound
   * their tasks would take every place after a restart.
   */
  ofOwner(owner: { readonly principal: string }): string;
}

/**
 * Tells callers apart by the gates that named them, too: each of several agents may have an `admin`. Agents with the same gates have
 * the same callers.
 *
 * @param gates undefined: the agent has none
 */
export function createCallerNames(gates: Gates["gates"] | undefined): CallerNames {
  const prefix = gates === undefined ? "principal" : `principal of gates ${numberOf(gates)}`;
  const ofCall: CallerNames["ofCall"] = ({ id, anonymous }, network) => {
    if (!anonymous) return `${prefix}: ${id}`;
    return network === undefined ? undefined : `network ${network}`;
  };
  return {
    ofCall,
    ofOwner({ principal }) {
      const anonymous = principal === anonymousPrincipal.id;
      return ofCall({ id: principal, anonymous }, undefined) ?? "callers without credentials";
    },
  };
}

/** The numbers of the gates in this process. */
const numbers = new WeakMap<Gates["gates"], number>();
let newest = 0;

function numberOf(gates: Gates["gates"]): number {
  const number = numbers.get(gates) ?? ++newest;
  numbers.set(gates, number);
  return number;
}

/** Those of the agent that is called, once its gates have let the call pass; until then those of an agent without gates. */
export const callerNamesKey: ContextKey<CallerNames> = createContextKey(createCallerNames(undefined), {
  description: "a2a names of callers",
});

/** The name of the caller of a call (`CallerNames`). */
export function callerNameOf({ values }: Pick<HandlerContext, "values">): string | undefined {
  return values.get(callerNamesKey).ofCall(values.get(principalKey), values.get(runtimeKey).callerNetwork);
}
