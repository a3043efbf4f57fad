import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { createFileCardMemory } from "@a2a-connect/node/client";
import type { CardMemory, RememberedCard } from "@a2a-connect/signing";
import { cardMemoryKey } from "@a2a-connect/signing/internal";
import { resolveCardReference } from "../agent/reference.ts";
import { type CliError, usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import type { CommandContext } from "../context.ts";
import { describeFileError } from "../files.ts";

/** The file of `--memory`, as the commands use it: what is wrong with it is told as wrong use. */
export interface OpenedMemory {
  /** As it was named. */
  readonly file: string;
  readonly memory: CardMemory;
}

/**
 * Opens the file in which cards are remembered. There need not be one, but the directory it is to be in.
 *
 * @throws CliError USAGE when there can be none, and from the memory's own methods when it is damaged or cannot be used
 */
export async function openMemory(file: string, { cwd }: Pick<CliIo, "cwd">): Promise<OpenedMemory> {
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
    memory: {
      read: (key) => explained(read(key), file),
      write: (...given) => explained(write(...given), file),
      forget: (key) => explained(forget(key), file),
    },
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
  { file, memory }: OpenedMemory,
  url: string | undefined,
): Promise<KnownAgent> {
  const key = url === undefined ? undefined : await cardMemoryKey(url);
  return { file, key, remembered: key === undefined ? undefined : await memory.read(key) };
}

async function explained<T>(work: Promise<T>, file: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    if (/ is damaged/.test(message)) throw unusable(`${file} is damaged`, error, hintDamaged(file));
    const use = / written$/.test(message) ? "written" : "read";
    throw unusable(`${file} ${describeFileError(cause, use).problem}`, error);
  }
}

function hintDamaged(file: string): string {
  return `restore ${file} from a backup, or move it away: then the next card of every agent counts as its first`;
}

function unusable(problem: string, cause?: unknown, hint?: string): CliError {
  return usageError(
    `--memory: ${problem}`,
    hint ?? "give --memory a file that nothing else uses, in a directory that exists; a2a makes the file",
    cause,
  );
}

/** The options of `card forget`. */
interface ForgetCardFlags {
  readonly memory: string;
}

/**
 * Takes an agent out of the file of `--memory`: its next card is the first again.
 *
 * @throws CliError USAGE when nothing is remembered of it, or the file cannot be used
 */
export async function forgetCard(
  { io, output }: CommandContext,
  given: string,
  { memory: file }: ForgetCardFlags,
): Promise<void> {
  const reference = await resolveCardReference(given, io);
  const key = reference.kind === "url" ? await cardMemoryKey(reference.url) : undefined;
  const hint = "name the agent as you verified it: by its URL, its host, or its name in a2a.config.yaml";
  if (key === undefined) throw usageError("a card without a URL is not remembered", hint);
  const { memory } = await openMemory(file, io);
  const remembered = await memory.read(key);
  if (remembered === undefined) throw usageError(`${file} has no record of ${key}`, hint);
  await memory.forget(key);
  const { thumbprints, firstSeen, lastSeen } = remembered;
  await output.field("Forgotten", key);
  await output.field("Known Since", firstSeen);
  await output.field("Last Seen", lastSeen);
  await output.field("Signed By", thumbprints.join(", "));
  await output.field("Memory", file);
  await output.document({ forgotten: key, firstSeen, lastSeen, thumbprints });
}
