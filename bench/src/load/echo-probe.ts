import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Target } from "../servers/control.ts";

/** How long unrelated echoes took. */
export interface EchoFigures {
  readonly echoes: number;
  readonly p50Ms: number;
  readonly worstMs: number;
}

/** What the thread of the echoes is told. */
export interface EchoOrder {
  readonly target: Target;
  readonly pauseMs: number;
}

/**
 * Echoes over JSON-RPC, one after the other, as long as `work` goes on: what an unrelated caller notices of it. They have a
 * thread of their own, because this one may be busy with the answers to the work.
 *
 * @param work begins it, when the connection of the echoes is open
 * @param pauseMs between an answer and the next echo
 */
export async function probeDuring<Result>(
  target: Target,
  work: () => Promise<Result>,
  pauseMs: number,
): Promise<{ readonly result: Result; readonly echoes: EchoFigures }> {
  const order: EchoOrder = { target, pauseMs };
  const worker = new Worker(new URL("./echo-worker.ts", import.meta.url), { workerData: order });
  try {
    await once(worker, "message"); // ready
    worker.postMessage("begin");
    const result = await work();
    worker.postMessage("end");
    const [echoes] = (await once(worker, "message")) as [EchoFigures]; // what the worker sends
    return { result, echoes };
  } finally {
    await worker.terminate();
  }
}
