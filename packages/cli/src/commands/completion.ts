import { Argument } from "commander";
import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import type { Shell } from "../completion/completion-script.ts";

const shells: readonly Shell[] = ["bash", "zsh", "fish"];

/** `a2a completion SHELL`: a script that completes commands, options and their values. */
export const addCompletion: AddCommand = (program, host) => {
  const command = program
    .command("completion")
    .description("Print a completion script: source <(a2a completion bash)")
    .addArgument(new Argument("<shell>", "which shell").choices(shells));
  host.action(command, async ({ io }: CommandContext, shell: Shell) => {
    const { createCompletionScript } = await import("../completion/completion-script.ts");
    await io.stdout.write(createCompletionScript(program, shell));
  });
};
