import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { OAuthClient, StoredTokens, TokenStore } from "@a2a-connect/auth/client";
import type { CliIo } from "../cli-io.ts";
import { isObject, parseJson } from "../json.ts";
import { keepPrivately } from "../keys/write-file.ts";
import { findKey, findSecretStorage, obtainKey, type SecretStorage, seal, unseal } from "./secret-storage.ts";

/** That a user has logged in to an agent. */
export interface Login extends Pick<OAuthClient, "id" | "issuer" | "scopes" | "audience"> {
  /** Origin of the agent, which alone gets the tokens. */
  readonly agent: string;
  /** By the keys of `TokenStore`: one for each audience and choice of scopes. */
  readonly tokens: Readonly<Record<string, StoredTokens>>;
}

/** The file of the logins, for its owner alone. */
export function loginsFile({ home }: Pick<CliIo, "home">): string {
  return join(home, ".local", "state", "a2a-cli", "logins.json");
}

/** What of the command's process the logins need. */
export type LoginsIo = Pick<CliIo, "home" | "cwd" | "env" | "stderr">;

/**
 * All logins; a file that is not there, or is damaged, has none.
 *
 * @param storage has the key of a file that is encrypted; without it the file has no logins, and stderr says so
 */
export async function readLogins(
  io: Omit<LoginsIo, "cwd">,
  storage: SecretStorage | undefined = findSecretStorage(io),
): Promise<readonly Login[]> {
  const stored = await readStored(io);
  const logins = isObject(stored) ? await openSealed(stored["sealed"], io, storage) : stored;
  return Array.isArray(logins) ? logins.filter((each) => isObject(each) && isObject(each["tokens"])) : [];
}

/** Whether the file of the logins is encrypted. */
export async function areEncrypted(io: Pick<CliIo, "home">): Promise<boolean> {
  return isObject(await readStored(io));
}

async function readStored(io: Pick<CliIo, "home">): Promise<unknown> {
  return parseJson(await readFile(loginsFile(io), "utf8").catch(() => ""));
}

async function openSealed(
  sealed: unknown,
  io: Omit<LoginsIo, "cwd">,
  storage: SecretStorage | undefined,
): Promise<unknown> {
  const key = await findKey(storage);
  const words = typeof sealed === "string" && key !== undefined ? unseal(sealed, key) : undefined;
  if (words === undefined) {
    await io.stderr.write(
      `warning: the key of ${loginsFile(io)} is not in the system's secret storage: unlock that storage, or log in again\n`,
    );
  }
  return parseJson(words ?? "");
}

/**
 * Encrypts the logins when the system's secret storage keeps the key.
 *
 * @throws CliError USAGE when the file cannot be written
 */
export async function writeLogins(
  logins: readonly Login[],
  io: LoginsIo,
  storage: SecretStorage | undefined = findSecretStorage(io),
): Promise<void> {
  const words = JSON.stringify(logins, null, 1);
  const key = storage && (await obtainKey(storage));
  const content = key === undefined ? words : JSON.stringify({ sealed: seal(words, key) });
  await keepPrivately(loginsFile(io), content, io);
}

/** Keeps the tokens of a login in the file. */
export function loginStore(login: Omit<Login, "tokens">, io: LoginsIo): TokenStore {
  const find = async () => (await readLogins(io)).find(({ agent }) => agent === login.agent);
  return {
    get: async (key) => (await find())?.tokens[key],
    async set(key, tokens) {
      const { [key]: _, ...others } = (await find())?.tokens ?? {};
      const kept = (await readLogins(io)).filter(({ agent }) => agent !== login.agent);
      await writeLogins([...kept, { ...login, tokens: { ...others, ...(tokens && { [key]: tokens }) } }], io);
    },
  };
}
