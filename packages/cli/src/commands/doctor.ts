import { Option } from "commander";
import { type AddCommand, addAgentOptions, duration } from "../command.ts";

/** `a2a doctor`: says in plain words what is wrong with a card or a server. */
export const addDoctor: AddCommand = (program, setAction) => {
  const command = program
    .command("doctor")
    .description(
      "Say in plain words what is wrong with a card or a server; exits with 1 when there is a problem",
    )
    .argument("[agent]", "host, URL, card file or name in a2a.config.yaml (default: --agent-card)")
    .option("--checklist", "score how ready it is for production: sends each skill's first example")
    .option(
      "--restart-command <command>",
      "with --checklist: restarts the server, to see whether tasks survive",
    )
    .addOption(
      new Option("--request-timeout <duration>", "how long a single request may take")
        .argParser(duration)
        .default(10_000, "10s"),
    );
  addAgentOptions(command);
  setAction(command, async () => (await import("../doctor/run-doctor.ts")).runDoctor);
};
