import { type AddCommand, wholeNumber } from "../command.ts";

/** Not that of an agent, so that both can run beside each other. */
const inspectPort = 4200;

/** `a2a inspect`: the inspector's page, for any agents. */
export const addInspect: AddCommand = (program, setAction) => {
  const command = program
    .command("inspect")
    .description("Serve a page on this machine to talk to agents and look into their tasks, wires and cards")
    .argument("[agents...]", "hosts, URLs, card files or names in a2a.config.yaml (default: --agent-card)")
    .option("--port <number>", "port to listen on; 0: any that is free", wholeNumber(0, 65_535), inspectPort);
  setAction(command, async () => (await import("../inspect/run-inspect.ts")).runInspect, "card");
};
