import type { AddCommand } from "../command.ts";

/** `a2a new NAME`: a working agent with a test, to begin with. */
export const addNew: AddCommand = (program, setAction) => {
  const command = program
    .command("new")
    .description("Begin an agent: a small project that works, with a test")
    .argument("<name>", "name of the project, such as table-booker")
    .option("--durable", "an agent whose tasks survive a crash")
    .option("--dir <path>", "where to write it (default: a directory of that name)");
  setAction(command, async () => (await import("../scaffold/create-project.ts")).createProject);
};
