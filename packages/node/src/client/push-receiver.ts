import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { eventIdHeader, type HttpHandler, type HttpRequest, type HttpResponse } from "@a2a-connect/bindings";
import { parseResponse, parseResponseJson } from "@a2a-connect/bindings/client";
import { shortBodyBytes } from "@a2a-connect/bindings/server";
import type {
  PushConfigInput,
  PushDelivery,
  PushReceiver,
  PushSubscription,
} from "@a2a-connect/client/internal";
import { countValues, isObject, parseHttpUrl, trimSlashes } from "@a2a-connect/core/internal";
import { StreamResponseSchema } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { listen } from "../port/listen.ts";
import type { ListenOptions } from "../port/listen-options.ts";

/** Where the receiver takes webhooks, and how many. */
export interface PushReceiverOptions extends Pick<ListenOptions, "port" | "host" | "tls"> {
  /**
   * The URL by which agents reach this receiver, such as `https://hooks.example.com/a2a`. Default the address at which
   * it listens.
   */
  readonly publicUrl?: string;
  /** Path of the webhooks, without a `publicUrl`. Default `/push`. */
  readonly path?: string;
  /** Longest notification. Default 16 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * Notifications of one webhook that may wait for their reader: also no further one when they have more than `maxBodyBytes`, each value
   * counting 128. Beyond that, senders are told to try again later. Default 100.
   */
  readonly maxPending?: number;
}

/** Further credentials that senders must send. */
export interface PushSubscriptionOptions {
  /** The agent sends it as `Authorization`, beside the token, if it supports that. Both are tested. */
  readonly authentication?: { readonly scheme: string; readonly credentials: string };
}

/** A receiver of webhooks on a port of its own. */
export interface NodePushReceiver extends PushReceiver, AsyncDisposable {
  /** The beginning of every webhook's URL, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  open(options?: PushSubscriptionOptions): PushSubscription;
  /** Ends all subscriptions and closes the port. */
  close(): Promise<void>;
}

/** Headers that may carry a webhook's token (requirement N-3): the first is usual, the official Go SDK sends the other. */
const tokenHeaders = ["x-a2a-notification-token", "a2a-notification-token"] as const;

/**
 * Takes an agent's webhooks (requirement N-7). Each subscription has a path that cannot be guessed, and a token of its
 * own. The token is compared in constant time before a byte of the body is read. A notification is acknowledged as soon
 * as it is parsed. It waits in memory for its reader.
 *
 * Senders get 204; 401 without the right token; 404 for a path that does not exist, or no longer; 405; 413; 400 for a
 * body that is not a notification; and 503 with Retry-After while `maxPending` wait.
 *
 * @throws Error when the port cannot be bound or `publicUrl` is no http or https URL
 */
export async function createPushReceiver(options: PushReceiverOptions = {}): Promise<NodePushReceiver> {
  const {
    publicUrl,
    path = "/push",
    maxBodyBytes = 16 * 1024 * 1024,
    maxPending = 100,
    ...listenOptions
  } = options;
  const named = publicUrl === undefined ? undefined : requireUrl(publicUrl);
  const subscriptions = new Map<string, Subscription>();
  const basePath = trimSlashes(named?.pathname ?? path);
  const listener = await listen(createHandler(subscriptions, basePath, maxBodyBytes), listenOptions);
  const url = `${named?.origin ?? listener.url}${basePath}`;
  const close = async (): Promise<void> => {
    for (const subscription of subscriptions.values()) subscription[Symbol.dispose]();
    await listener.close({ graceMs: 0, timeoutMs: closeTimeoutMs });
  };
  return {
    url,
    port: listener.port,
    open({ authentication } = {}) {
      const id = randomText();
      const token = randomText();
      const config = {
        url: `${url}/${id}`,
        token,
        ...(authentication === undefined ? {} : { authentication }),
      };
      const subscription = new Subscription(config, maxPending, maxBodyBytes, () => subscriptions.delete(id));
      subscriptions.set(id, subscription);
      return subscription;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** How long `close` waits for senders in the middle of a request. */
const closeTimeoutMs = 1_000;

class Subscription implements PushSubscription {
  readonly config: PushConfigInput;
  readonly deliveries: DeliveryQueue<PushDelivery>;
  readonly #token: Buffer;
  readonly #authorization: Buffer | undefined;
  readonly #forget: () => void;

  constructor(config: PushConfigInput, maxPending: number, maxBytes: number, forget: () => void) {
    const { token = "", authentication } = config;
    this.config = config;
    this.deliveries = new DeliveryQueue(maxPending, maxBytes);
    this.#forget = forget;
    this.#token = digest(token);
    this.#authorization = authentication === undefined ? undefined : digest(authorizationOf(authentication));
  }

  /** Whether a request has every secret. The test takes the same time, whichever is wrong. */
  admits({ header }: HttpRequest): boolean {
    const given = tokenHeaders.map((name) => header.get(name)).find((value) => value !== null);
    const hasToken = timingSafeEqual(digest(given ?? ""), this.#token);
    if (this.#authorization === undefined) return hasToken;
    const authorization = digest(lowerScheme(header.get("authorization") ?? ""));
    return timingSafeEqual(authorization, this.#authorization) && hasToken;
  }

  [Symbol.dispose](): void {
    this.#forget();
    this.deliveries.end();
  }
}

function createHandler(
  subscriptions: ReadonlyMap<string, Subscription>,
  basePath: string,
  maxBodyBytes: number,
): HttpHandler {
  return async (request) => {
    const { pathname } = new URL(request.url);
    const id = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length + 1) : "";
    const subscription = subscriptions.get(id);
    if (subscription === undefined) return answer(404, "there is no such webhook");
    if (request.method !== "POST") return answer(405, "notifications are sent with POST", { allow: "POST" });
    if (!subscription.admits(request)) return answer(401, "the token is missing or wrong");
    const { deliveries } = subscription;
    if (deliveries.isFull) return busy();
    const body = await readBody(request, maxBodyBytes);
    if (body === undefined) return answer(413, `a notification has at most ${maxBodyBytes} bytes`);
    const text = decodeText(body);
    const delivery = await parseNotification(text, request, maxBodyBytes);
    if (delivery === undefined) {
      return answer(400, "the body is no StreamResponse in JSON, or has too many values");
    }
    const bytes = text.length + valueBytes * countValues(text);
    return deliveries.put(delivery, bytes) ? { status: 204 } : busy();
  };
}

/** A body that is not UTF-8 is no JSON, as one without text. */
function decodeText(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return "";
  }
}

/** What a value of a waiting notification counts. */
const valueBytes = 128;

/** Resolves when there is a turn to parse it: an agent may bring hundreds of notifications at the same moment. */
async function readBody(
  { body, callerNetwork }: HttpRequest,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  try {
    const bytes = await body.bytes?.(maxBytes); // this package's listener supplies both functions
    if (bytes !== undefined && bytes.length > shortBodyBytes) {
      await body.turnBeforeMessage?.(bytes.length, callerNetwork);
    }
    return bytes;
  } catch (thrown) {
    if (ConnectError.from(thrown).code === Code.ResourceExhausted) return undefined;
    throw thrown;
  }
}

/**
 * Read with the same tolerance as responses: a newer agent may use fields and enum values that this client does not
 * know. Agents of A2A 0.3 send the whole task as it is at that time, which may be newer than the event that they tell of.
 */
async function parseNotification(
  text: string,
  request: HttpRequest,
  maxBytes: number,
): Promise<PushDelivery | undefined> {
  try {
    const json = parseResponseJson(text, maxBytes);
    if (isObject(json) && "kind" in json) {
      const { readOlderNotification } = await import("@a2a-connect/bindings/v03");
      return { response: readOlderNotification(json), eventId: undefined };
    }
    const response = parseResponse(StreamResponseSchema, json);
    return response.payload.case === undefined ? undefined : { response, eventId: parseEventId(request) };
  } catch {
    return undefined;
  }
}

function parseEventId({ header }: HttpRequest): number | undefined {
  const text = header.get(eventIdHeader) ?? "";
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

function busy(): HttpResponse {
  return answer(503, "too many notifications wait to be read", { "retry-after": "1" });
}

function answer(status: number, message: string, header: Record<string, string> = {}): HttpResponse {
  const fields = new Headers({ "content-type": "text/plain; charset=utf-8", ...header });
  return { status, header: fields, body: `${message}\n` };
}

function requireUrl(text: string): URL {
  const url = parseHttpUrl(text);
  if (url === undefined) {
    throw new Error(`publicUrl must be an absolute http or https URL, not ${JSON.stringify(text)}`);
  }
  return url;
}

/** Digests have the same length for every text. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** The name of a scheme has no case (requirement N-2). */
function lowerScheme(authorization: string): string {
  return authorization.replace(/^\S+/, (scheme) => scheme.toLowerCase());
}

function authorizationOf({
  scheme,
  credentials = "",
}: NonNullable<PushConfigInput["authentication"]>): string {
  return lowerScheme(`${scheme} ${credentials}`);
}

/** 192 bits that fit a URL. */
function randomText(): string {
  return randomBytes(24).toString("base64url");
}

/** Values that arrived and wait to be read, in order, up to a limit. For one reader. */
class DeliveryQueue<T> implements AsyncIterable<T> {
  readonly #limit: number;
  readonly #maxBytes: number;
  readonly #waiting: { readonly item: T; readonly bytes: number }[] = [];
  #bytes = 0;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(limit: number, maxBytes: number) {
    this.#limit = limit;
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#limit || this.#bytes > this.#maxBytes;
  }

  /** @returns whether there was room */
  put(item: T, bytes: number): boolean {
    if (this.isFull || this.#ended) return false;
    this.#waiting.push({ item, bytes });
    this.#bytes += bytes;
    this.#wake?.();
    return true;
  }

  /** No value comes any more; waiting values are dropped. */
  end(): void {
    this.#ended = true;
    this.#waiting.length = 0;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    let returned = false;
    return {
      next: async () => {
        while (!this.#ended && !returned) {
          const first = this.#waiting.shift();
          if (first !== undefined) {
            this.#bytes -= first.bytes;
            return { done: false, value: first.item };
          }
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        return { done: true, value: undefined };
      },
      return: async () => {
        returned = true;
        this.#wake?.();
        return { done: true, value: undefined };
      },
    };
  }
}
