// A worker with a listener whose process is busy: it accepts nothing until it is told to.

import { parentPort, workerData } from "node:worker_threads";
import { listen } from "../src/port/listen.ts";
import { echo } from "./handlers.ts";

// The callers close their side at once, and a busy machine may answer the last of them later than by default.
const listener = await listen(echo, { halfCloseTimeoutMs: 60_000 });
parentPort?.postMessage(listener.port);
Atomics.wait(workerData as Int32Array, 0, 0); // what `new Worker` was given
