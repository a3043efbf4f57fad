import { InvalidArgumentError, Option } from "commander";
import { type AddCommand, addAgentOptions } from "../command.ts";
import { parseDuration } from "../settings/values.ts";

/** `a2a smoke`: tries each skill of a list of agents by its first example; the exit code is for CI. */
export const addSmoke: AddCommand = (program, setAction) => {
  const command = program
    .command("smoke")
    .description(
      "Send each skill's first example to every agent of a list; exits with 1 when one does not work",
    )
    .argument(
      "[agents...]",
      "URLs, hosts, names of a2a.config.yaml, or files that list them (default: all of a2a.config.yaml)",
    )
    .option("--concurrency <n>", "skills to try at a time", parseConcurrency, 4)
    .addOption(
      new Option("--skill-timeout <duration>", "how long each skill may take")
        .argParser(parseLimit)
        .default(60_000, "60s"),
    );
  addAgentOptions(command);
  setAction(command, async () => (await import("../smoke/run-smoke.ts")).runSmoke);
};

function parseConcurrency(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 100) {
    throw new InvalidArgumentError("a number from 1 to 100");
  }
  return value;
}

function parseLimit(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 1) throw new InvalidArgumentError("a duration such as 30s or 2m");
  return ms;
}
