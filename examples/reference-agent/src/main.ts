import type { LogRecord } from "@a2a-connect/server";
import { renderBanner } from "./banner.ts";
import { help, parseOptions } from "./options.ts";
import { startReferenceAgent } from "./start.ts";

/** One JSON line a record, on stderr, without the text of errors: an executor's may hold what its caller sent. */
function logToStderr({ error, ...record }: LogRecord): void {
  const cause = error instanceof Error ? { error: error.name } : {};
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...record, ...cause })}\n`);
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === undefined) {
    process.stdout.write(help);
  } else {
    const served = await startReferenceAgent(options, logToStderr);
    process.stdout.write(`ready ${served.url}\n${renderBanner(served.url, options.auth)}`);
  }
} catch (error) {
  process.stderr.write(
    `${error instanceof Error ? error.message : String(error)}\nTry: npm start -- --help\n`,
  );
  process.exitCode = 1;
}
