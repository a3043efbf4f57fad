import { type AddCommand, durationOption, wholeNumber } from "../command.ts";

/** `a2a doctor`: says in plain words what is wrong with a card or a server. */
export const addDoctor: AddCommand = (program, setAction) => {
  const command = program
    .command("doctor")
    .description("Say in plain words what is wrong with a card or a server; exits with 1 for a problem")
    .argument("[agent]", "host, URL, card file or name in a2a.config.yaml (default: --agent-card)")
    .option("--checklist", "score how ready it is for production: sends each skill's first example")
    .option("--restart-command <command>", "with --checklist: restarts the server, to see if tasks survive")
    .addOption(durationOption("--request-timeout <duration>", "how long a single request may take", "10s"));
  setAction(command, async () => (await import("../doctor/run-doctor.ts")).runDoctor);
};

/** `a2a smoke`: tries each skill of a list of agents by its first example; the exit code is for CI. */
export const addSmoke: AddCommand = (program, setAction) => {
  const command = program
    .command("smoke")
    .description("Send each skill's first example to every agent of a list; exits with 1 for a failure")
    .argument(
      "[agents...]",
      "URLs, hosts, names of a2a.config.yaml, or files that list them (default: all of a2a.config.yaml)",
    )
    .option("--concurrency <n>", "skills to try at a time", wholeNumber(1, 100), 4)
    .addOption(durationOption("--skill-timeout <duration>", "how long each skill may take", "60s"));
  setAction(command, async () => (await import("../smoke/run-smoke.ts")).runSmoke);
};
