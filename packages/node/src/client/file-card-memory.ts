import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "@a2a-connect/core/internal";
import type { CardMemory, RememberedCard } from "@a2a-connect/signing";
import { trimCards } from "@a2a-connect/signing/internal";
import { hasCode, holdFileLock } from "./file-lock.ts";

/** What cards declare that are remembered, all together, in UTF-16 units: the file is read as a whole each time. */
const maxLength = 8 * 1024 * 1024;

/**
 * A card memory in a JSON file. The first card to be remembered creates the file and its directory, readable by their
 * owner alone. Several processes may share the file. Each reads it anew every time and replaces it as a whole, so that
 * no process sees half a file. They write one after the other: a file beside it, `.NAME.lock`, exists while one of them
 * writes.
 *
 * Beyond 10,000 agents the memory forgets the agent that was not written for the longest time, and beyond 8,388,608 UTF-16 units
 * what its card declared.
 *
 * @returns a memory whose methods throw an Error that names the file when it is damaged, or cannot be read or written.
 *   A damaged file is not changed. An empty file counts as new.
 */
export function createFileCardMemory(file: string): CardMemory {
  const path = resolve(file);
  let last: Promise<unknown> = Promise.resolve();
  /** Writes of this process run one after the other, so that they do not compete for the lock. */
  const change = (edit: (cards: Map<string, RememberedCard>) => boolean): Promise<boolean> => {
    const done = last.then(() => changeCards(path, edit));
    last = done.catch(() => {}); // its caller gets the error
    return done;
  };
  return {
    read: async (key) => (await readCards(path)).get(key),
    write: (key, card, expected) =>
      change((cards) => {
        if (expected !== undefined && !isDeepStrictEqual(cards.get(key), expected ?? undefined)) return false;
        cards.delete(key); // the agent written last is last in the file, even if the clocks of the processes differ
        cards.set(key, card);
        trimCards(cards, maxLength);
        return true;
      }),
    forget: async (key) => {
      if ((await readCards(path)).has(key)) await change((cards) => cards.delete(key));
    },
  };
}

/** @param edit returns whether it has changed something */
async function changeCards(
  path: string,
  edit: (cards: Map<string, RememberedCard>) => boolean,
): Promise<boolean> {
  await using _ = await lock(path);
  const cards = await readCards(path);
  const isChanged = edit(cards);
  if (isChanged) await writeCards(path, cards);
  return isChanged;
}

async function lock(path: string): Promise<AsyncDisposable> {
  const directory = dirname(path);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return await holdFileLock(join(directory, `.${basename(path)}.lock`));
  } catch (cause) {
    throw new Error(`the card memory ${path} cannot be written`, { cause });
  }
}

/** The format of another version is unknown. */
const formatVersion = 1;

async function readCards(path: string): Promise<Map<string, RememberedCard>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return new Map();
    throw new Error(`the card memory ${path} cannot be read`, { cause });
  }
  if (text.trim() === "") return new Map(); // another process has created the file
  const cards = parseCards(text);
  if (cards === undefined) {
    throw new Error(
      `the card memory ${path} is damaged; restore it, or move it away to meet every agent for the first time again`,
    );
  }
  return cards;
}

/** Undefined when the text is not from `writeCards`. */
function parseCards(text: string): Map<string, RememberedCard> | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(json) || json["version"] !== formatVersion || !isObject(json["cards"])) {
    return undefined;
  }
  const cards = new Map<string, RememberedCard>();
  for (const [key, card] of Object.entries(json["cards"])) {
    if (!isRememberedCard(card)) return undefined;
    cards.set(key, card);
  }
  return cards;
}

function isRememberedCard(value: unknown): value is RememberedCard {
  if (!isObject(value)) return false;
  const { thumbprints, newKeys = {}, missingKeys = {}, outline = "", digest, firstSeen, lastSeen } = value;
  return (
    Array.isArray(thumbprints) &&
    [...thumbprints, outline, digest, firstSeen, lastSeen].every((text) => typeof text === "string") &&
    [newKeys, missingKeys].every(
      (keys) => isObject(keys) && Object.values(keys).every((since) => typeof since === "string"),
    )
  );
}

/** Readers see the old file or the new one, also when the process or the machine stops in between. */
async function writeCards(path: string, cards: ReadonlyMap<string, RememberedCard>): Promise<void> {
  const directory = dirname(path);
  const temporary = join(directory, `.${basename(path)}.${randomUUID()}.part`);
  try {
    await writeNew(
      temporary,
      JSON.stringify({ version: formatVersion, cards: Object.fromEntries(cards) }, null, 1),
    );
    await rename(temporary, path);
  } catch (cause) {
    throw new Error(`the card memory ${path} cannot be written`, { cause });
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(text);
  await file.sync();
}
