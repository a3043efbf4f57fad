import type { BenchServer } from "../servers/start-server.ts";
import type { LoadClient } from "./load-client.ts";

/** What a stretch of load gave. */
export interface LoadResult {
  readonly operations: number;
  readonly elapsedMs: number;
  /** CPU that the server's process used meanwhile, in microseconds. */
  readonly cpuUs: number;
  /** How long each operation took, in milliseconds, ascending. */
  readonly latenciesMs: Float64Array;
}

/** When a stretch of load ends. */
export type LoadEnd = { readonly durationMs: number } | { readonly operations: number };

const stallMs = 120_000;

/**
 * Every client calls again as soon as it is answered. The load never sleeps: a server that has to wake the process it
 * answers pays for that, in a virtual machine more than for the call itself.
 *
 * @throws Error when a call fails, or none is answered for long
 */
export async function runClosedLoop(
  server: BenchServer,
  clients: readonly LoadClient[],
  call: (client: LoadClient) => Promise<unknown>,
  end: LoadEnd,
): Promise<LoadResult> {
  const before = await server.usage();
  const started = performance.now();
  const until = "durationMs" in end ? started + end.durationMs : Number.POSITIVE_INFINITY;
  let left = "operations" in end ? end.operations : Number.POSITIVE_INFINITY;
  const latencies: number[] = [];
  const loop = async (client: LoadClient) => {
    for (let begun = performance.now(); begun < until && left > 0; ) {
      left--;
      await call(client);
      const now = performance.now();
      latencies.push(now - begun);
      begun = now;
    }
  };
  const mayWait = "durationMs" in end ? end.durationMs : stallMs;
  let isOver = false;
  const stayAwake = (): void => void (isOver || setImmediate(stayAwake));
  stayAwake();
  try {
    await withinTime(Promise.all(clients.map(loop)), stallMs + mayWait);
  } finally {
    isOver = true;
  }
  const elapsedMs = performance.now() - started;
  const after = await server.usage();
  return {
    operations: latencies.length,
    elapsedMs,
    cpuUs: after.cpuUs - before.cpuUs,
    latenciesMs: Float64Array.from(latencies).sort(),
  };
}

async function withinTime(work: Promise<unknown>, limitMs: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`the load got no answers for ${limitMs} ms`)),
    limitMs,
  );
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
