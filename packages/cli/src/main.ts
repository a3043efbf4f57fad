#!/usr/bin/env node
// Not by its name: a Node that has no such function would print a stack, and not that it is too old.
import * as nodeModule from "node:module";

// Halves the time to start, from the second start on.
nodeModule.enableCompileCache?.();
const [{ createProcessIo }, { runCli }] = await import("@a2a-connect/node/supported-node")
  .then(() => Promise.all([import("./cli-io.ts"), import("./run.ts")]))
  .catch((error: unknown) => {
    // What says so otherwise may be what is broken.
    const why = error instanceof Error ? error.message : String(error);
    const stack = process.argv.includes("--debug") && error instanceof Error ? `debug: ${error.stack}\n` : "";
    process.stderr.write(
      `error: the command cannot start: ${why.replace(/\s+/g, " ")} [A2ACLI_ERR_INTERNAL]\n${stack}`,
    );
    process.exit(1);
  });

// Everything has been written by then. Connections that an agent still holds open do not keep the command running.
process.exit(await runCli(process.argv.slice(2), createProcessIo()));
