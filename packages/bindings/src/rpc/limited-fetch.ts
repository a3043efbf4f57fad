import { parseMediaType } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { tooManyRequests } from "../fetch/response-errors.ts";
import { limitBody, limitEnvelopes } from "./limited-response.ts";

type Fetch = typeof globalThis.fetch;

/** Flag of the Connect protocol's EndStreamResponse. */
const endStreamFlag = 0b10;

/** Flag of the trailers of gRPC-Web. */
const trailerFlag = 0b1000_0000;

/** A `fetch` for Connect's own transport of the Connect protocol, which has no limits of its own. */
export function limitConnectFetch(fetch: Fetch, maxBytes: number): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (subtypeOf(response).startsWith("connect+")) {
      return limitEnvelopes(response, maxBytes, endStreamFlag);
    }
    const limited = await limitBody(response, maxBytes);
    if (response.status === 429 && !(await isConnectError(limited.clone()))) {
      throw tooManyRequests(response.headers); // JSON of another server, for which Connect would not show the status
    }
    return limited;
  };
}

/** The same for gRPC-Web. It refuses a web page in place of a response, which Connect would take for envelopes. */
export function limitGrpcWebFetch(fetch: Fetch, maxBytes: number): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok || response.headers.has("grpc-status")) {
      return limitBody(response, maxBytes); // the header has the whole status
    }
    if (!/^grpc-web(?:$|\+)/.test(subtypeOf(response))) {
      response.body?.cancel().catch(() => {}); // the body is not needed
      throw new ConnectError(
        `the server answered with HTTP status ${response.status} and no gRPC-Web response`,
        Code.Internal,
        response.headers,
      );
    }
    return limitEnvelopes(response, maxBytes, trailerFlag);
  };
}

async function isConnectError(response: Response): Promise<boolean> {
  const body: unknown = await response.json().catch(() => undefined);
  return typeof body === "object" && body !== null && "code" in body && typeof body.code === "string";
}

function subtypeOf({ headers }: Response): string {
  return parseMediaType(headers.get("content-type") ?? "")?.subtype ?? "";
}
