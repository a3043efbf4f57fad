import type { ConnectOptions } from "../options.ts";
import type { BindingTransport } from "../platform.ts";
import { webTransports } from "../transports/web-transports.ts";
export function knownTransports(options: ConnectOptions): readonly BindingTransport[] { return [...(options.platform?.transports ?? []), ...webTransports]; }
