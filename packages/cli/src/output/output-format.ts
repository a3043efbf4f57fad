import type { CliIo } from "../cli-io.ts";
import type { Settings } from "../settings/settings.ts";

/** How a failure is printed when the options could not be read: as what was typed, or the environment, looks like. */
export function findOutputFormat(
  argv: readonly string[],
  env: CliIo["env"],
): Pick<Settings, "output" | "stream" | "verbose"> {
  const words = argv.join(" ");
  const typed = [...words.matchAll(/(?:^| )(?:--output[ =]|-o ?=?)(json|text)\b/g)].at(-1)?.[1];
  return {
    output: (typed ?? env["A2ACLI_OUTPUT"]) === "json" ? "json" : "text",
    stream: argv.includes("--stream"),
    verbose: false,
  };
}
