import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import type { DownloadFlags } from "../task/download.ts";

/** `a2a task download`: a task's artifacts as files. */
export const addTaskDownload: AddCommand = (task, host) => {
  const command = task
    .command("download")
    .description("Save a task's artifacts as files; nothing is overwritten, directories in names are ignored")
    .argument("<task>", "its id")
    .option("--output-dir <directory>", "where to (default: the working directory)")
    .option("--artifact <id>", "only this one, by id or name");
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, taskId: string, flags: DownloadFlags) => {
    const { downloadArtifacts } = await import("../task/download.ts");
    await downloadArtifacts(context, taskId, flags);
  });
};
