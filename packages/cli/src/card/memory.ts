import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createFileCardMemory } from "@a2a-connect/node/client";
import type { CardMemory, RememberedCard } from "@a2a-connect/signing";
import { cardMemoryKey } from "@a2a-connect/signing/internal";
import { resolveCardReference } from "../agent/reference.ts";
import { type CliError, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { describeFileError } from "../files.ts";

/** The memory in the file of `--memory`: what is wrong with it is told as wrong use. */
export type OpenedMemory = CardMemory & { readonly file: string };

/** Opens the file in which cards are remembered. There need not be one, but the directory it is to be in. */
export async function openMemory(file: string, { cwd }: { readonly cwd: string }): Promise<OpenedMemory> {
  const path = resolve(cwd, file);
  const [found, directory] = await Promise.all(
    [path, dirname(path)].map((each) => stat(each).catch(() => undefined)),
  );
  if (found?.isDirectory() === true) throw unusable(`${file} is a directory`);
  if (found !== undefined && !found.isFile()) throw unusable(`${file} is not a regular file`);
  if (found === undefined && directory?.isDirectory() !== true)
    throw unusable(`there is no directory ${dirname(file)}`);
  const { read, write, forget } = createFileCardMemory(path);
  return {
    file,
    read: (key) => explained(read(key), file),
    write: (...given) => explained(write(...given), file),
    forget: (key) => explained(forget(key), file),
  };
}

/** What a memory knows of the agent whose card is at hand. */
export interface KnownAgent {
  readonly file: string;
  /** By what it is remembered; undefined where the card came from nowhere. */
  readonly key: string | undefined;
  /** Before this card; undefined: nothing. */
  readonly remembered: RememberedCard | undefined;
}

/** @param url what was asked for the card; undefined for a file and the standard input */
export async function recallAgent(
  { file, read }: OpenedMemory,
  url: string | undefined,
): Promise<KnownAgent> {
  const key = url === undefined ? undefined : await cardMemoryKey(url);
  return { file, key, remembered: key === undefined ? undefined : await read(key) };
}

async function explained<T>(work: Promise<T>, file: string): Promise<T> {
  return await work.catch((error: unknown) => {
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    if (/ is damaged/.test(message)) {
      const hint = `restore ${file} from a backup, or move it away: then the next card of every agent counts as its first`;
      throw unusable(`${file} is damaged`, error, hint);
    }
    const use = / written$/.test(message) ? "written" : "read";
    throw unusable(`${file} ${describeFileError(cause, use).problem}`, error);
  });
}

function unusable(
  problem: string,
  cause?: unknown,
  hint = "give --memory a file that nothing else uses, in a directory that exists; a2a makes the file",
): CliError {
  return usageError(`--memory: ${problem}`, hint, cause);
}

/** Takes an agent out of the file of `--memory`: its next card is the first again. */
export async function forgetCard(
  { io, output }: CommandContext,
  given: string,
  { memory: file }: { readonly memory: string },
): Promise<void> {
  const reference = await resolveCardReference(given, io);
  const forgotten = reference.kind === "url" ? await cardMemoryKey(reference.url) : undefined;
  const hint = "name the agent as you verified it: by its URL, its host, or its name in a2a.config.yaml";
  if (forgotten === undefined) throw usageError("a2a remembers only cards that have a URL", hint);
  const memory = await openMemory(file, io);
  const remembered = await memory.read(forgotten);
  if (remembered === undefined) throw usageError(`${file} has no record of ${forgotten}`, hint);
  await memory.forget(forgotten);
  const { thumbprints, firstSeen, lastSeen } = remembered;
  await output.fields({
    Forgotten: forgotten,
    "Known Since": firstSeen,
    "Last Seen": lastSeen,
    "Signed By": thumbprints.join(", "),
    Memory: file,
  });
  await output.document({ forgotten, firstSeen, lastSeen, thumbprints });
}
