import { setImmediate } from "node:timers/promises";
import { Wakes } from "@a2a-connect/core/internal";
import type { Pool } from "undici";
import { AnswerTurns } from "../network/answer-turns.ts";
import { connectInTurn, secureOptions } from "../network/connect-in-turn.ts";
import { type Connections, limitInterimAnswers, openLater } from "../network/guarded-fetch.ts";
import type { NodeTlsOptions } from "./tls-options.ts";

/** A piece of a response has arrived: what it waits for before it is read; undefined: nothing. */
export type ResponseTurn = () => Promise<void> | undefined;

/**
 * Reads what agents have sent, for a few milliseconds in a turn of the event loop, and agents take turns: one that streams events
 * without a pause must keep nothing else in the process waiting.
 */
export const responseTurns: Wakes = new Wakes(
  { nextTurn: () => setImmediate(), ticks: () => performance.now() },
  512,
);

/**
 * Reads the connections of all clients of this process, in turns of the agents that they call. A machine that is busy makes handshakes of
 * TLS longer, too, so the rest is short enough for many connections to one agent.
 */
export const answerTurns: AnswerTurns = new AnswerTurns({ answerMs: 0.1, restFactor: 2, mostRestMs: 1_000 });

/** What waits for the reader of a response before it is received no further, in bytes. */
export const maxWaitingBytes: number = 64 * 1024;

/** What each chunk of it counts besides: the objects of one take more memory than a byte. */
export const chunkBytes = 256;

/** A `fetch` with connections of its own. */
export interface NodeFetch {
  readonly connections: () => Promise<Connections>;
  readonly fetch: typeof globalThis.fetch;
  /** Closes all connections; calls that still run reject. */
  close(): Promise<void>;
}

/**
 * A `fetch` with TLS options and a limit for connecting, and without the global one's limit of 5 minutes for a
 * response: a blocking call may take as long as its task. It uses proxies of the environment where Node's own `fetch`
 * would (`NODE_USE_ENV_PROXY=1`).
 */
export function createNodeFetch(tls: NodeTlsOptions, connectTimeoutMs: number): NodeFetch {
  const { get: connections, close } = openLater((undici) => {
    const { Agent, EnvHttpProxyAgent, Pool, buildConnector, fetch } = undici;
    const connectDirectly = buildConnector({ timeout: connectTimeoutMs });
    const options = {
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
      // With a proxy, `connect` asks it for a tunnel.
      factory: (origin: string | URL, { connect, ...others }: Pool.Options) =>
        new Pool(origin, {
          ...others,
          connect: connectInTurn(undici, {
            connectTcp: typeof connect === "function" ? connect : connectDirectly,
            tls,
            timeoutMs: connectTimeoutMs,
            turns: answerTurns,
            callerOf: (url) => url,
          }),
        }),
    };
    // A proxy of SOCKS5 does not ask the factory: undici itself begins TLS behind it.
    const dispatcher =
      process.env["NODE_USE_ENV_PROXY"] === "1"
        ? new EnvHttpProxyAgent({ ...options, proxyTunnel: true, requestTls: { ...tls, secureOptions } })
        : new Agent(options);
    return {
      dispatcher: dispatcher.compose(limitInterimAnswers),
      fetch,
      destroy: () => dispatcher.destroy(),
    };
  });
  return {
    connections,
    fetch: async (input, init) => {
      const { dispatcher, fetch } = await connections();
      const [to, how] = [input, { ...init, dispatcher }] as unknown as Parameters<typeof fetch>;
      // undici's types name its own classes in place of the DOM's. At run time they are the same, except for form data.
      return (await fetch(to, how)) as unknown as Response;
    },
    close,
  };
}
