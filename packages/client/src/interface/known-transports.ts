import type { ConnectOptions } from "../options.ts";
import type { BindingTransport } from "../platform.ts";
import { webTransports } from "../transports/web-transports.ts";

/** The wires that can be used: the platform's, then those that need only `fetch`. The first of a binding counts. */
export function knownTransports({ platform }: Pick<ConnectOptions, "platform">): readonly BindingTransport[] {
  const known = new Map<string, BindingTransport>();
  for (const each of [...(platform?.transports ?? []), ...webTransports]) {
    if (!known.has(each.binding)) {
      known.set(each.binding, each);
    }
  }
  return [...known.values()];
}
