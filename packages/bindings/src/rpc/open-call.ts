import type { ConnectError } from "@connectrpc/connect";
import { type Compression, compressionNegotiate } from "@connectrpc/connect/protocol";
import { Deadline } from "../deadline.ts";
import type { HttpRequest } from "../http.ts";
import { type BoundOperation, CallContext } from "../invoke.ts";
import type { BindingSettings, Wire } from "../options.ts";

/** The caller's time limit for the call. */
interface Timeout {
  readonly timeoutMs?: number;
  readonly error?: ConnectError | undefined;
}

/** What the request's headers say about a call in one protocol. */
export interface CallHeaders {
  readonly wire: Wire;
  /** Header that names the compression of messages, in requests and in responses. */
  readonly encoding: string;
  /** Header that names the compressions that the caller accepts in the response. */
  readonly acceptEncoding: string;
  readonly timeout: string;
  parseTimeout(value: string | null, maxTimeoutMs: number): Timeout;
}

/** A call whose headers have been read. */
export interface OpenCall {
  readonly context: CallContext;
  /** The compression of the request's message, if any. */
  readonly requestCompression: Compression | null;
  /** The compression of the response's messages, if any. */
  readonly responseCompression: Compression | null;
  /** Why the call does not run. */
  readonly refused: ConnectError | undefined;
  /** Call it when the call is over. */
  close(): void;
}

/** Begins a call: its compressions, its deadline, its context. */
export function openCall(
  headers: CallHeaders,
  { bound, current }: Pick<BoundOperation, "bound" | "current">,
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
    context: new CallContext(current?.desc ?? bound.desc, request, {
      wire: headers.wire,
      deadline,
      header: current?.header(header),
    }),
    requestCompression: compression.request,
    responseCompression: compression.response,
    refused: compression.error ?? timeout.error ?? deadline?.refusal,
    close: deadline === undefined ? nothing : () => deadline.stop(),
  };
}

function nothing(): void {}
