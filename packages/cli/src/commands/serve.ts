import { Option } from "commander";
import { CliError } from "../cli-error.ts";
import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import { hostOption, portOption } from "../serve/port-option.ts";
import { publicUrlOption } from "../serve/public-url-option.ts";
import type { ServeFlags } from "../serve/serve-options.ts";
import { retiredKeyOption, signKeyOption } from "../serve/sign-key-option.ts";

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
    .addOption(publicUrlOption())
    .addOption(signKeyOption())
    .addOption(retiredKeyOption())
    .option("--watch", "start again whenever the module, or what it imports, changes")
    .addHelpText("after", examples);
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

const examples = `
A signed card names its own URL and its key set: others can verify it only when --public-url says where they reach it.
Several agents have a key set each, below their paths, and all keys together at the root. PEM does not say a key's id,
nor that it is for PS256: then take a JWK. A date of --retired-key is the beginning of that day in UTC, or a time with
its zone, such as 2027-01-31T12:00:00Z.

Examples:
  a2a serve agent.ts
  a2a serve agent.ts --host 0.0.0.0 --public-url https://agents.example.org --sign-key keys/2026.json
  a2a serve agent.ts --sign-key keys/2027.json --retired-key keys/2026.public.json@2027-01-31`;
