import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { quantile } from "../report/statistics.ts";
import type { EchoFigures, EchoOrder } from "./echo-probe.ts";
import { openClients } from "./load-client.ts";
import { jsonRpcWire } from "./wires/index.ts";

if (parentPort === null) throw new Error("this file is run by echo-probe.ts");
const { target, pauseMs } = workerData as EchoOrder; // what openProbe gives
using callers = await openClients(jsonRpcWire, target);
await callers.first.send("echo warm");
parentPort.postMessage("ready");

await once(parentPort, "message");
let isOver = false;
const end = once(parentPort, "message").then(() => {
  isOver = true;
});
const latenciesMs: number[] = [];
while (!isOver) {
  const begun = performance.now();
  // When the work ends before it is answered, an echo has waited that long at least.
  await Promise.race([callers.first.send("echo hello"), end]);
  latenciesMs.push(performance.now() - begun);
  if (pauseMs > 0) await pause(pauseMs);
}
const ascending = Float64Array.from(latenciesMs).sort();
const figures: EchoFigures = {
  echoes: ascending.length,
  p50Ms: quantile(ascending, 0.5),
  worstMs: quantile(ascending, 1),
};
parentPort.postMessage(figures);
parentPort.close();
