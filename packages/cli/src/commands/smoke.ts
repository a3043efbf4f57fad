import { Option } from "commander";
import { type AddCommand, addAgentOptions, duration, wholeNumber } from "../command.ts";

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
    .option("--concurrency <n>", "skills to try at a time", wholeNumber(1, 100), 4)
    .addOption(
      new Option("--skill-timeout <duration>", "how long each skill may take")
        .argParser(duration)
        .default(60_000, "60s"),
    );
  addAgentOptions(command);
  setAction(command, async () => (await import("../smoke/run-smoke.ts")).runSmoke);
};
