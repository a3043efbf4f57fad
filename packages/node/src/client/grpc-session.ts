import type { ClientHttp2Stream } from "node:http2";
import { Http2SessionManager } from "@connectrpc/connect-node";

/**
 * Connect's session manager, made safe against errors that come late. It stops listening as soon as a session has failed
 * or is given up; what the session says after that, such as the protocol error of a server that speaks HTTP/1.1, would end
 * the process.
 */
export class GrpcSession extends Http2SessionManager {
  override async request(...call: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    const stream = await super.request(...call);
    const { session } = stream;
    if (session !== undefined && session.listenerCount("error", ignore) === 0) {
      session.on("error", ignore);
    }
    return stream;
  }
}

/** Whoever waits for an answer hears of it from the stream. */
function ignore(): void {}
