import { setTimeout as pause } from "node:timers/promises";
import { quantile } from "../report/statistics.ts";
import type { Target } from "../servers/control.ts";
import { openClients } from "./load-client.ts";
import { jsonRpcWire } from "./wires/index.ts";

/** How long unrelated echoes took. */
export interface EchoFigures {
  readonly echoes: number;
  readonly p50Ms: number;
  readonly worstMs: number;
}

/**
 * Echoes over JSON-RPC, one after the other, as long as `work` goes on: what a stranger notices of it.
 *
 * @param pauseMs between an answer and the next echo
 */
export async function probeDuring(
  target: Target,
  work: Promise<unknown>,
  pauseMs: number,
): Promise<EchoFigures> {
  using callers = await openClients(jsonRpcWire, target);
  let over = false;
  const end = work.finally(() => {
    over = true;
  });
  end.catch(() => {}); // whoever waits for the work itself is told
  const latenciesMs: number[] = [];
  while (!over) {
    const begun = performance.now();
    // When the work ends before it is answered, an echo has waited that long at least.
    await Promise.race([callers.first.send("echo hello"), end]);
    latenciesMs.push(performance.now() - begun);
    await (pauseMs === 0 ? undefined : pause(pauseMs));
  }
  const ascending = Float64Array.from(latenciesMs).sort();
  return { echoes: ascending.length, p50Ms: quantile(ascending, 0.5), worstMs: quantile(ascending, 1) };
}
