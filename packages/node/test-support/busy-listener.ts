// A worker with a listener whose process is busy: it accepts nothing until it is told to.

import { parentPort, workerData } from "node:worker_threads";
import { listen } from "../src/port/listen.ts";
import { echo } from "./handlers.ts";

const listener = await listen(echo);
parentPort?.postMessage(listener.port);
Atomics.wait(workerData as Int32Array, 0, 0); // what `new Worker` was given
