import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { CardMemory, CardMemoryLimits, RememberedCard } from "@a2a-connect/signing";

/**
 * Remembers cards in a JSON file, which is made when there is something to be remembered, with its directory, and is for its
 * owner alone. It is read anew each time and replaced as a whole, so that several processes may share it: none of them sees half a
 * file, and of two that write at the same time the last one wins. What the other one wrote is then met for the first time again.
 *
 * Beyond the limits whoever was not seen for the longest time is forgotten.
 *
 * @returns a memory whose methods throw an Error that names the file when it is damaged, or cannot be read or written; a
 *   damaged file is left as it is
 * @throws TypeError when a limit is not a number above 0
 */
export function createFileCardMemory(file: string, limits: CardMemoryLimits = {}): CardMemory {
  const { maxCards = 10_000, maxLength = 64 * 1024 * 1024 } = limits;
  if (!(maxCards > 0 && maxLength > 0)) {
    throw new TypeError("the limits of a card memory are numbers above 0");
  }
  const path = resolve(file);
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: between reading and writing nobody else of this process may write. */
  const change = (edit: (cards: Map<string, RememberedCard>) => boolean): Promise<void> => {
    const done = last.then(async () => {
      const cards = await readCards(path);
      if (edit(cards)) await writeCards(path, cards);
    });
    last = done.catch(() => {}); // its caller hears of it
    return done;
  };
  return {
    read: async (key) => (await readCards(path)).get(key),
    write: (key, card) =>
      change((cards) => {
        cards.delete(key);
        forgetOldest(cards, maxCards - 1, maxLength - card.canonical.length);
        cards.set(key, card);
        return true;
      }),
    forget: (key) => change((cards) => cards.delete(key)),
  };
}

/** Who was seen last is last in the file, whatever the clocks of those who share it say. */
function forgetOldest(cards: Map<string, RememberedCard>, maxCards: number, maxLength: number): void {
  let length = 0;
  for (const { canonical } of cards.values()) length += canonical.length;
  for (const [key, { canonical }] of cards) {
    if (cards.size <= maxCards && length <= maxLength) return;
    cards.delete(key);
    length -= canonical.length;
  }
}

/** What another version of this format is, nobody knows. */
const formatVersion = 1;

async function readCards(path: string): Promise<Map<string, RememberedCard>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return new Map();
    throw new Error(`the card memory ${path} cannot be read`, { cause });
  }
  const cards = parseCards(text);
  if (cards === undefined) {
    throw new Error(
      `the card memory ${path} is damaged; restore it, or move it away to meet every agent for the first time again`,
    );
  }
  return cards;
}

/** Undefined when the text is not what `writeCards` writes. */
function parseCards(text: string): Map<string, RememberedCard> | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(json) || json["version"] !== formatVersion || !isRecord(json["cards"])) {
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
  if (!isRecord(value)) return false;
  const { thumbprints, newKeys, canonical, firstSeen, lastSeen } = value;
  return (
    Array.isArray(thumbprints) &&
    [...thumbprints, canonical, firstSeen, lastSeen].every((text) => typeof text === "string") &&
    (newKeys === undefined ||
      (isRecord(newKeys) && Object.values(newKeys).every((since) => typeof since === "string")))
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Readers see the old file or the new one, also when the process or the machine stops in between. */
async function writeCards(path: string, cards: ReadonlyMap<string, RememberedCard>): Promise<void> {
  const directory = dirname(path);
  const temporary = join(directory, `.${basename(path)}.${randomUUID()}.part`);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
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

function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === code;
}
