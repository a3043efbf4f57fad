export type { CliIo, TextSink } from "./cli-io.ts";
export { runCli } from "./run.ts";
