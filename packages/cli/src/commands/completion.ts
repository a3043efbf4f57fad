import { Argument } from "commander";
import type { AddCommand } from "../command.ts";
import type { Shell } from "../completion/completion-script.ts";

const shells: readonly Shell[] = ["bash", "zsh", "fish"];

/** `a2a completion SHELL`: a script that completes commands, options and their values. */
export const addCompletion: AddCommand = (program, setAction) => {
  const command = program
    .command("completion")
    .description("Print a completion script: source <(a2a completion bash)")
    .addArgument(new Argument("<shell>", "which shell").choices(shells));
  setAction(command, async () => {
    const { createCompletionScript } = await import("../completion/completion-script.ts");
    return ({ io }, shell: Shell) => io.stdout.write(createCompletionScript(program, shell));
  });
};
