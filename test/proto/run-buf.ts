import { execFile } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The root of the repository, where buf.yaml is. */
export const repositoryRoot: string = fileURLToPath(new URL("../..", import.meta.url));

const binaries = join(repositoryRoot, "node_modules", ".bin");
const run = promisify(execFile);

/**
 * Runs the workspace's own buf in the root of the repository, without a shell and without a network.
 *
 * @returns what it printed, warnings after output
 * @throws when it exits with anything but 0; the message holds what it printed
 */
export async function runBuf(...args: string[]): Promise<string> {
  const env = { ...process.env, PATH: [binaries, process.env["PATH"]].join(delimiter) };
  try {
    const { stdout, stderr } = await run(join(binaries, "buf"), args, { cwd: repositoryRoot, env });
    return stdout + stderr;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string }; // what execFile rejects with
    throw new Error(`buf ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
