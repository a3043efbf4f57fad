import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";

interface NewFlags {
  readonly durable?: boolean;
  readonly dir?: string;
}

/** `a2a new NAME`: a working agent with a test, to begin with. */
export const addNew: AddCommand = (program, host) => {
  const command = program
    .command("new")
    .description("Begin an agent: a small project that works, with a test")
    .argument("<name>", "name of the project, such as table-booker")
    .option("--durable", "an agent whose tasks survive a crash")
    .option("--dir <path>", "where to write it (default: a directory of that name)");
  host.action(command, async (context: CommandContext, name: string, flags: NewFlags) => {
    const { createProject } = await import("../scaffold/create-project.ts");
    await createProject(context, name, {
      durable: flags.durable ?? false,
      directory: flags.dir ?? name,
      version: program.version() ?? "",
    });
  });
};
