import type { HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import { BodyTurns } from "@a2a-connect/bindings/server";
import {
  callUnawaited,
  type Holding,
  type MountPoint,
  type SharedBudget,
  scaleToHeap,
  Wakes,
} from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { systemClock } from "../engine/clock.ts";
import { plainError } from "../plain-routes.ts";
import { findUnreadAnswers } from "../unread-answers.ts";
import { findCallPlaces, takePlaces } from "./call-places.ts";
import { FetchBody, findBodyBudget } from "./fetch-body.ts";
import {
  comesFromThisMachine,
  createMount,
  type Mount,
  type Mountable,
  type MountOptions,
  targetBelow,
} from "./mount.ts";

export type { Mountable, MountOptions } from "./mount.ts";

/** Options of an agent in a server of web standards. */
export interface FetchHandlerOptions extends MountOptions {
  /**
   * Bytes of all answers that callers have not read, as `maxUnreadBytes` of `listen`. Mounts with the same limit share it. Default
   * 256 MiB, or as much less as the heap is smaller than 2 GiB.
   */
  readonly maxUnreadBytes?: number;
  /**
   * Bytes of all request bodies until messages are made of them, as `maxTotalBodyBytes` of `listen`. Mounts with the same limit
   * share it. Default 256 MiB, or as much less as the heap is smaller than 2 GiB.
   */
  readonly maxTotalBodyBytes?: number;
  /**
   * Calls whose answers have not begun, 7/8 of them of one `remoteAddress`; one with a large header or URL counts once for each 4 KiB of them.
   * Further ones are answered with 429. Mounts with the same limit share it. Default 16,384; less where the heap is smaller than 2 GiB.
   */
  readonly maxCalls?: number;
}

/** What a runtime knows of a request's connection. */
export interface FetchConnection {
  /**
   * The address of the caller, or of the proxy before it. It tells callers without credentials apart, and without it no request
   * counts as one of this machine.
   */
  readonly remoteAddress?: string | undefined;
}

/** Answers a request of the web standard. It never rejects. */
export type FetchHandler = (request: Request, connection?: FetchConnection) => Promise<Response>;

/** Bytes of an answer that are given to the runtime at once. Answers of up to this size are not counted, either. */
const sliceBytes = 64 * 1024;

/**
 * Makes a server one of the web standard, for Hono, Next.js, Deno, Bun, Workers and others: JSON-RPC, HTTP+JSON, Connect and
 * gRPC-Web, with streams and limits as over its own port (docs/mount.md). The card names the URL of the mount, and no gRPC, which
 * needs HTTP/2 and trailers.
 *
 * The first request starts the server, if `start` was not called before.
 *
 * @throws Error when the path is none
 */
export function toFetchHandler(server: Mountable, options: FetchHandlerOptions = {}): FetchHandler {
  const full = scaleToHeap(256 * 2 ** 20);
  const { maxUnreadBytes = full, maxTotalBodyBytes = full, maxCalls = scaleToHeap(16_384) } = options;
  const shared: Shared = {
    mount: createMount(server, options),
    unread: findUnreadAnswers({ maxUnreadBytes }),
    bodies: findBodyBudget({ maxTotalBodyBytes }),
  };
  const places = findCallPlaces({ maxCalls });
  return async (request, { remoteAddress } = {}) => {
    const address = typeof remoteAddress === "string" ? remoteAddress : undefined; // a runtime may pass something else here
    const network = address && networkOf(address);
    const place = takePlaces(places, network, request);
    if (place === null) return tooManyCalls(request);
    const call = new FetchCall(shared, request, { remoteAddress: address, network, place });
    const report = (message: string, error: unknown): void => {
      if (!call.isAborted) server.log({ level: "error", message, error });
    };
    try {
      await turns.beforeRequest.turn(call.callerNetwork);
      const response = await shared.mount.handle(call).finally(() => {
        void call.body.release(); // for a handler that did not release it itself
      });
      return await toResponse(response, call, (error) => report("a response broke off", error));
    } catch (error) {
      report("a mounted agent could not answer", error);
      call.end();
      return toResponse(plainError(500, "INTERNAL", "Internal error"), call, () => {});
    }
  };
}

/** What the calls of a mount share. */
interface Shared {
  readonly mount: Mount;
  readonly unread: SharedBudget;
  readonly bodies: SharedBudget;
}

/** Where a call comes from, and its places among all. */
interface Origin {
  readonly remoteAddress: string | undefined;
  readonly network: string | undefined;
  readonly place: Holding;
}

function tooManyCalls({ method }: Request): Response {
  const words = "Too many calls of this address are open; try again later";
  const { status, header = new Headers(), body } = plainError(429, "RESOURCE_EXHAUSTED", words);
  return new Response(method === "HEAD" ? null : (body as string), { status, headers: header }); // a plain error is a text
}

/** What all mounts do a few at a time in a turn of the event loop, as our own ports do. Callers take turns. */
const turns = {
  beforeRequest: new Wakes(systemClock, 8),
  afterShortBody: new Wakes(systemClock, 8),
  beforeMessage: new BodyTurns(),
  toGoOn: new Wakes(systemClock, 8),
  beforePiece: new Wakes(systemClock, 64),
  beforeEnd: new Wakes(systemClock, 64),
};

/** A request in the form for handlers, until its answer is complete. */
class FetchCall implements HttpRequest {
  readonly httpVersion = "1.1";
  readonly url: string;
  readonly mount: MountPoint;
  readonly boundToLoopback: boolean;
  readonly callerNetwork: string | undefined;
  readonly method: string;
  readonly header: Headers;
  readonly body: FetchBody;
  readonly signal: AbortSignal;
  readonly #shared: Shared;
  readonly #place: Holding;
  readonly #unread: Holding;
  readonly #controller = new AbortController();
  readonly #runtime: AbortSignal;
  #isAnswered = false;
  #isLeaving = false;
  #hasEnded = false;

  constructor(shared: Shared, request: Request, { remoteAddress, network, place }: Origin) {
    const { mount, unread, bodies } = shared;
    const { path = "" } = mount;
    const { origin, hostname, pathname, search } = new URL(request.url);
    this.url = origin + targetBelow(path, pathname + search);
    this.mount = { origin, path };
    this.method = request.method;
    this.header = request.headers;
    this.boundToLoopback =
      mount.isPrivate &&
      comesFromThisMachine({
        remoteAddress,
        hosts: hostsOf(hostname, request),
        fields: request.headers.keys(),
      });
    this.callerNetwork = network;
    this.signal = this.#controller.signal;
    this.#shared = shared;
    this.#place = place;
    this.#unread = unread.open(network);
    this.body = new FetchBody(request, {
      held: bodies.open(network),
      signal: this.signal,
      turnAfterShortBody: () => turns.afterShortBody.turn(this.callerNetwork),
      messageTurns: turns.beforeMessage,
    });
    mount.calls.add(this);
    this.#runtime = request.signal;
    this.#runtime.addEventListener("abort", this.leave);
    if (this.#runtime.aborted) this.#endLeft();
  }

  get isAborted(): boolean {
    return this.signal.aborted;
  }

  /** Whether its caller has gone, and will not read the answer. */
  get isLeft(): boolean {
    return this.#runtime.aborted;
  }

  countUnread(bytes: number): void {
    if (!this.#hasEnded) this.#unread.add(bytes);
  }

  turnToGoOn(): Promise<void> | undefined {
    return turns.toGoOn.turn(this.callerNetwork);
  }

  /** What the next piece of a streamed answer waits for before it is made; undefined: nothing. */
  turnBeforePiece(): Promise<void> | undefined {
    return turns.beforePiece.turn(this.callerNetwork);
  }

  /** Nothing more is made of its answer, and nothing waits for its reader. */
  abort(reason: Error): void {
    this.#controller.abort(reason);
    this.end();
  }

  /** The runtime has the answer, and reads it. One whose caller has gone may do nothing more with it. */
  handOver(): void {
    this.#isAnswered = true;
    this.#place.end();
  }

  /** The answer is complete, or never will be. */
  end(): void {
    this.#hasEnded = true;
    this.#place.end();
    this.#unread.end();
    void this.body.release();
    this.#shared.mount.calls.delete(this);
    this.#runtime.removeEventListener("abort", this.leave);
  }

  /** Its caller goes away, perhaps together with thousands of others: they end in turns. */
  readonly leave = async (): Promise<void> => {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    await turns.beforeEnd.turn(this.callerNetwork);
    this.#endLeft();
  };

  /** An answer that is still being made takes memory until it is ready, and counts until then. */
  #endLeft(): void {
    this.#controller.abort(callerLeft());
    if (this.#isAnswered) this.end();
  }
}

function callerLeft(): ConnectError {
  return new ConnectError("the caller went away", Code.Canceled);
}

/** The host of the URL and that of the header field, which a runtime may have made the URL from. */
function hostsOf(hostname: string, { headers }: Request): readonly string[] {
  const field = headers.get("host");
  return field === null ? [hostname] : [hostname, URL.parse(`http://${field}`)?.hostname ?? ""];
}

/** An IPv4 address, or the first 64 bits of an IPv6 one, which belong to one site. */
function networkOf(address: string): string {
  const text = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*/s, "");
  if (!text.includes(":")) return text;
  const [before = "", after] = text.toLowerCase().split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [first, last] = [groups(before), groups(after ?? "")];
  const zeros =
    after === undefined ? [] : Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => "0");
  const whole = [...first, ...zeros, ...last].map((group) => group.replace(/^0+(?=.)/, ""));
  return `${whole.slice(0, 4).join(":")}::/64`;
}

/** @param onBroken gets what the body threw after the head was sent */
async function toResponse(
  { status, header = new Headers(), body, headAtOnce = false }: HttpResponse,
  call: FetchCall,
  onBroken: (error: unknown) => void,
): Promise<Response> {
  const isBodiless = call.isLeft || call.method === "HEAD" || status === 204 || status === 304;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  // Workers would compress again what has the field content-encoding; the others do not know the option.
  const init: ResponseInit & { encodeBody: "manual" } = { status, headers: header, encodeBody: "manual" };
  if (isBodiless || bytes === undefined || (bytes instanceof Uint8Array && bytes.length <= sliceBytes)) {
    call.end();
    if (isBodiless && isIterable(bytes)) letGo(bytes[Symbol.asyncIterator]());
    const whole = isBodiless || isIterable(bytes) ? null : (bytes ?? null);
    return new Response(whole as BodyInit | null, init); // BodyInit wants bytes that are not shared, as these are
  }
  if (bytes instanceof Uint8Array) {
    header.set("content-length", String(bytes.length));
    return new Response(streamOf(inSlices(bytes), undefined, call, onBroken), init);
  }
  const iterator = bytes[Symbol.asyncIterator]();
  // Header fields may be set until the first chunk is ready, unless the response says otherwise.
  const first = headAtOnce ? undefined : await iterator.next();
  if (call.isLeft) {
    letGo(iterator);
    return toResponse({ status, header }, call, onBroken);
  }
  return new Response(streamOf(iterator, first, call, onBroken), init);
}

function isIterable(body: HttpResponse["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && !(body instanceof Uint8Array);
}

async function* inSlices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}

/** Chunks as the caller reads them. When it goes away, the call ends and so does the iterator. */
function streamOf(
  iterator: AsyncIterator<Uint8Array>,
  first: IteratorResult<Uint8Array> | undefined,
  call: FetchCall,
  onBroken: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  let ready = first;
  let isCanceled = false;
  call.handOver();
  const stop = (): void => letGo(iterator);
  call.signal.addEventListener("abort", stop, { once: true });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (ready === undefined) await call.turnBeforePiece();
          const { done, value } = ready ?? (await iterator.next());
          ready = undefined;
          if (isCanceled) return; // the iterator is let go when the call ends
          if (done !== true) {
            controller.enqueue(value);
            return;
          }
          controller.close();
        } catch (error) {
          if (!isCanceled) onBroken(error);
          controller.error(new Error("the response broke off"));
        }
        call.signal.removeEventListener("abort", stop);
        call.end();
      },
      cancel() {
        isCanceled = true;
        return call.leave();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The error of the clean-up of an unread body is dropped. */
function letGo(iterator: AsyncIterator<Uint8Array>): void {
  callUnawaited(() => iterator.return?.());
}
