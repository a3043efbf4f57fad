import { Option } from "commander";
import { CliError } from "../cli-error.ts";
import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import { hostOption, portOption } from "../serve/port-option.ts";
import type { ServeFlags } from "../serve/serve-options.ts";

/** `a2a serve FILE`: serves the agent that a module exports, or several, over all five wires, with durable tasks. */
export const addServe: AddCommand = (program, host) => {
  const command = program
    .command("serve")
    .description(
      "Serve the agent that a module exports as its default, or several: an array, or an object by name",
    )
    .argument("<file>", "TypeScript or JavaScript module: export default defineAgent({ … })")
    .addOption(portOption(4000))
    .addOption(hostOption())
    .option("--db <file>", "file of the task store (default: .a2a/<name of the agent>.sqlite)")
    .addOption(
      new Option("--store <kind>", "where tasks live: a file, or memory for a try")
        .choices(["sqlite", "memory"])
        .conflicts("db"),
    )
    .option(
      "--sign-key <file>",
      "sign the card with this private key (JWK or PEM), repeatable; its public side is at /.well-known/jwks.json",
      (file: string, before: readonly string[] = []) => [...before, file],
    )
    .option("--watch", "start again whenever the module, or what it imports, changes");
  host.action(command, async (context: CommandContext, file: string, flags: ServeFlags) => {
    if (flags.watch === true) {
      if (context.output.format === "json") {
        throw new CliError("A2ACLI_ERR_USAGE", "--watch serves again and again, and -o json is one document");
      }
      const { watch } = await import("../serve/watch.ts");
      return await watch(context);
    }
    const { serveFile } = await import("../serve/serve-file.ts");
    return await serveFile(context, file, flags);
  });
};
