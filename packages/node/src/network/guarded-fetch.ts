import { AsyncLocalStorage } from "node:async_hooks";
import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { ReadTurns } from "@a2a-connect/core/internal";
import type { buildConnector, Dispatcher } from "undici";
import {
  type AddressGuard,
  type AddressGuardOptions,
  createAddressGuard,
  targetOf,
} from "./address-guard.ts";
import type { Target } from "./allow-list.ts";
import { AnswerTurns } from "./answer-turns.ts";
import { connectInTurn } from "./connect-in-turn.ts";
import { ConnectionPools } from "./connection-pools.ts";
import { InterimAnswers } from "./interim-answers.ts";

/** Options of a guarded fetch. */
export interface GuardedFetchOptions extends AddressGuardOptions {
  /** Time limit for connecting, name resolution and TLS included. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** The trusted certificate authorities, PEM. Default: Node's. */
  readonly ca?: string | readonly string[];
  /** Further options of TLS: our own certificate, and whether to verify the other side's. */
  readonly tls?: Pick<ConnectionOptions, "ca" | "cert" | "key" | "rejectUnauthorized">;
  /** Silence of a server, before or within a response, after which a call fails; 0: no limit. Default 5 min. */
  readonly responseTimeoutMs?: number;
  /** Resolves names. Default: the system's resolver, as `node:dns` asks it. */
  readonly lookup?: LookupFunction;
}

/** A `fetch` for addresses that callers or agents name, such as webhooks. */
export interface GuardedFetch extends AsyncDisposable {
  /**
   * The standard `fetch`, with three differences. It rejects, with the code `ERR_ADDRESS_REFUSED`, when the guard does
   * not permit the address. It never follows a redirect, but returns it (or rejects, for `redirect: "error"`). It uses
   * no proxy. Form data must be undici's own.
   *
   * It resolves two names at a time, as the system's resolver does, and one for each `caller`, however long that takes. Callers
   * share no connections.
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit, caller?: string) => Promise<Response>;
  /** Why a URL would be refused for its text (see AddressGuard). Call it when a URL is registered. */
  refuseUrl(url: string): string | undefined;
  /** Closes all connections; calls that still run reject. */
  close(): Promise<void>;
}

/**
 * A `fetch` that reaches public addresses only (requirement N-6).
 *
 * It resolves a name once for each connection, and connects to an address that it has tested. So an answer that changes
 * in between (DNS rebinding) has no effect. Of several addresses it drops those that are not permitted.
 *
 * @throws Error when an entry of `allow` is malformed
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const guard = createAddressGuard(options);
  const { ca, responseTimeoutMs = 300_000, connectTimeoutMs = 10_000, lookup = systemLookup } = options;
  const callers = new AsyncLocalStorage<string | undefined>();
  const lookups = new ReadTurns(maxLookups);
  // A name that is slow to resolve keeps a thread beyond its connection's time, but no place among those that wait.
  const lookupFor =
    (caller: string): LookupFunction =>
    (hostname, lookupOptions, callback) => {
      const signal = AbortSignal.timeout(connectTimeoutMs);
      const read = (): Promise<void> =>
        new Promise((resolve) =>
          lookup(hostname, lookupOptions, (...answer) => {
            resolve();
            callback(...answer);
          }),
        );
      lookups.run({ share: caller, signal: () => signal }, read).catch((error) => callback(error, ""));
    };
  const turns = new AnswerTurns();
  const connections = openLater((undici) => {
    const { Dispatcher, buildConnector, fetch, Pool } = undici;
    const connectTo = (caller: string, origin: URL): buildConnector.connector => {
      const lookup = guardLookup(guard, targetOf(origin), lookupFor(caller));
      return connectInTurn(undici, {
        connectTcp: buildConnector({ lookup, timeout: connectTimeoutMs }),
        tls: { ...options.tls, ...(ca === undefined ? {} : { ca: typeof ca === "string" ? ca : [...ca] }) },
        timeoutMs: connectTimeoutMs,
        turns,
        callerOf: () => caller,
      });
    };
    // A pool for each origin, because a resolver does not know the port for which a name is resolved. Not an agent that
    // reads the environment: a proxy would resolve the name itself.
    const pools = new ConnectionPools(
      (caller, origin) =>
        new Pool(origin, {
          headersTimeout: responseTimeoutMs,
          bodyTimeout: responseTimeoutMs,
          allowH2: false, // else the second connection waits until the first knows its protocol
          keepAliveTimeout: keepAliveMs,
          keepAliveMaxTimeout: keepAliveMs, // also when the server names a longer time
          connect: connectTo(caller, new URL(origin)),
        }),
    );
    const dispatch: Dispatcher.DispatcherComposeInterceptor = () => (request, handler) =>
      pools.dispatch(callers.getStore() ?? String(request.origin), request, handler);
    return {
      dispatcher: new Dispatcher().compose(dispatch, limitInterimAnswers),
      fetch,
      destroy: () => pools.destroy(),
    };
  });
  const guardedFetch: GuardedFetch["fetch"] = async (input, init, caller) => {
    const text = input instanceof Request ? input.url : String(input);
    const refusal = guard.refuseUrl(text);
    if (refusal !== undefined) throw addressRefused(`the URL ${refusal}`);
    const { dispatcher, fetch } = await connections.get();
    const request = {
      ...(input instanceof Request ? partsOf(input) : {}),
      ...init,
      redirect: init?.redirect === "error" ? "error" : "manual",
      dispatcher,
    };
    try {
      // undici's types name its own classes in place of the DOM's. At run time they are the same, except for form data.
      const run = () => fetch(text, request as Parameters<typeof fetch>[1]);
      return (await callers.run(caller, run)) as unknown as Response;
    } catch (error) {
      throw isRefusal(error) ? error.cause : error;
    }
  };
  return {
    fetch: guardedFetch,
    refuseUrl: (url) => guard.refuseUrl(url),
    close: connections.close,
    [Symbol.asyncDispose]: connections.close,
  };
}

type Undici = typeof import("undici");

/** What makes requests. */
export interface Connections {
  readonly dispatcher: Dispatcher;
  readonly fetch: Undici["fetch"];
  /** Ends all requests, and closes the connections. */
  destroy(): Promise<void>;
}

/** Connections that are made when they are first needed: undici takes longer to load than all of our own code. */
export function openLater(open: (undici: Undici) => Connections): {
  /** @throws Error when they were closed */
  get(): Promise<Connections>;
  close(): Promise<void>;
} {
  let opened: Promise<Connections> | undefined;
  let isClosed = false;
  return {
    async get() {
      if (isClosed) throw new Error("the client was closed");
      opened ??= import("undici").then(open);
      return opened;
    },
    async close() {
      isClosed = true;
      await (await opened)?.destroy();
    },
  };
}

/** Names that are resolved at a time: Node has no more threads for it. */
const maxLookups = 2;

/** How long a connection without requests is kept, in milliseconds. */
const keepAliveMs = 4_000;

/** Ends a request with more interim answers, which undici would read without end. */
export const limitInterimAnswers: Dispatcher.DispatcherComposeInterceptor =
  (dispatch) => (request, handler) => {
    const interim = new InterimAnswers();
    return dispatch(request, {
      onRequestStart: (...args) => handler.onRequestStart?.(...args),
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart(controller, status, fields, ...rest) {
        const refusal = status < 200 ? interim.refuse(fields) : undefined;
        if (refusal === undefined) handler.onResponseStart?.(controller, status, fields, ...rest);
        else controller.abort(refusal);
      },
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });
  };

/**
 * Resolves like `lookup`, and keeps the addresses that the guard permits. Hosts that are addresses do not come here:
 * `refuseUrl` has judged them.
 */
export function guardLookup(guard: AddressGuard, target: Target, lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, answer, family = 4) => {
      if (error !== null) return callback(error, answer);
      const found = typeof answer === "string" ? [{ address: answer, family }] : answer;
      const permitted = found.filter(({ address }) => guard.permits(target, address));
      const [first] = permitted;
      if (first === undefined) callback(addressRefused(refusalOf(target)), "");
      else if (options.all === true) callback(null, permitted);
      else callback(null, first.address, first.family);
    });
}

/** The message has the name, which the caller knows, and not the address behind it, which may be a secret. */
function refusalOf({ host }: Target): string {
  return `${host} leads to an address that is not public`;
}

/** `code` of a refused call's error. */
export const refusedCode = "ERR_ADDRESS_REFUSED";

/** Whether an error means that the guard refused the address. */
export function addressRefused(message: string): Error {
  return Object.assign(new Error(message), { code: refusedCode });
}

/** undici wraps the errors of a connector. */
function isRefusal(error: unknown): error is { readonly cause: Error } {
  if (!(error instanceof Error && error.cause instanceof Error)) return false;
  return "code" in error.cause && error.cause.code === refusedCode;
}

function partsOf({ method, headers, body, signal }: Request): RequestInit & { duplex: "half" } {
  return { method, headers, body, signal, duplex: "half" };
}
