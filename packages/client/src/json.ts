import { connectOver } from "./connect-agent.ts";
import { jsonTransports } from "./transports/json-transports.ts";

/**
 * `connectAgent` of `@a2a-connect/client` for pages that call agents over HTTP+JSON and JSON-RPC alone: it has no code
 * for Connect and gRPC-Web. Everything else is exported there.
 */
export const connectAgent: ReturnType<typeof connectOver> = connectOver(jsonTransports);
