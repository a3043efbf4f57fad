import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { type Compression, compressionNegotiate } from "@connectrpc/connect/protocol";
import { Deadline, deadlineExceeded } from "../deadline.ts";
import type { HttpRequest } from "../http.ts";
import { CallContext } from "../invoke.ts";
import type { BindingSettings, Wire } from "../options.ts";

/** What a caller says about the time that a call may take. */
interface Timeout {
  readonly timeoutMs?: number;
  readonly error?: ConnectError | undefined;
}

/** What a protocol says about a call in the request's headers. */
export interface CallHeaders {
  readonly wire: Wire;
  /** Header that names how messages are compressed, in requests and in responses. */
  readonly encoding: string;
  /** Header that names how messages of the response may be compressed. */
  readonly acceptEncoding: string;
  readonly timeout: string;
  parseTimeout(value: string | null, maxTimeoutMs: number): Timeout;
}

/** A call whose headers have been read. */
export interface OpenCall {
  readonly context: CallContext;
  /** How the request's message is compressed, if it is. */
  readonly requestCompression: Compression | null;
  /** How messages of the response are to be compressed. */
  readonly responseCompression: Compression | null;
  /** Why the call does not run. */
  readonly refused: ConnectError | undefined;
  /** To be called when the call is over. */
  close(): void;
}

/** Begin a call: its compressions, its deadline, its context. */
export function openCall(
  headers: CallHeaders,
  method: DescMethod,
  request: HttpRequest,
  { compressions, timer }: Pick<BindingSettings, "compressions" | "timer">,
): OpenCall {
  const { header } = request;
  const compression = compressionNegotiate(
    [...compressions],
    header.get(headers.encoding),
    header.get(headers.acceptEncoding),
    headers.acceptEncoding,
  );
  const timeout = headers.parseTimeout(header.get(headers.timeout), Number.MAX_SAFE_INTEGER);
  const { timeoutMs } = timeout;
  const deadline = timeoutMs === undefined ? undefined : new Deadline(timeoutMs, request, timer);
  return {
    context: new CallContext(method, request, { wire: headers.wire, deadline }),
    requestCompression: compression.request,
    responseCompression: compression.response,
    refused: compression.error ?? timeout.error ?? (timeoutMs === 0 ? deadlineExceeded() : undefined),
    close: deadline === undefined ? nothing : () => deadline.stop(),
  };
}

function nothing(): void {}
