#!/usr/bin/env node
import { createProcessIo } from "./process-io.ts";
import { runCli } from "./run-cli.ts";

// Everything has been written by now. What an agent still holds open keeps nobody waiting.
process.exit(await runCli(process.argv.slice(2), createProcessIo()));
