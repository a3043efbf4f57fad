import type { LoadWire } from "../load-wire.ts";
import { connectWire } from "./connect.ts";
import { grpcWire } from "./grpc.ts";
import { grpcWebWire } from "./grpc-web.ts";
import { httpJsonWire } from "./http-json.ts";
import { jsonRpcWire } from "./json-rpc.ts";

/** All wires of the load; the ones that the peer speaks too come first. */
export const loadWires: readonly LoadWire[] = [jsonRpcWire, httpJsonWire, grpcWire, connectWire, grpcWebWire];

/** The wires that both sides speak. */
export const sharedWires: readonly LoadWire[] = loadWires.filter(({ shared }) => shared);

export { grpcWire, httpJsonWire, jsonRpcWire };
