// `npm start`: serves the reference agent in a process of its own. A message `crash` has that process killed, and another one is
// started with the same options: what was at work goes on. Everything else ends this process as it ended the agent's.
import { type ChildProcess, spawn } from "node:child_process";
import { enableCompileCache, getCompileCacheDir } from "node:module";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

// From the second start on, the agent's process starts in less than two thirds of the time.
enableCompileCache();
const env = { ...process.env, NODE_COMPILE_CACHE: getCompileCacheDir() };

let agent = start();

function start(): ChildProcess {
  const child = spawn(process.execPath, [main, ...process.argv.slice(2)], {
    env,
    // A server that others can reach is not theirs to crash: without this channel the message is refused.
    stdio: ["inherit", "inherit", "inherit", process.argv.includes("--open") ? "ignore" : "ipc"],
  });
  let wantsCrash = false;
  child.on("message", (message) => {
    if (message !== "crash") return;
    wantsCrash = true;
    child.kill("SIGKILL");
  });
  child.once("exit", (code, signal) => {
    if (wantsCrash) {
      process.stderr.write("The process was killed, as a message wanted; it is started again.\n");
      agent = start();
    } else if (signal === null) {
      process.exit(code);
    } else {
      for (const each of signals) process.removeAllListeners(each);
      process.kill(process.pid, signal);
    }
  });
  return child;
}

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
for (const signal of signals) {
  process.on(signal, () => agent.kill(signal));
}
