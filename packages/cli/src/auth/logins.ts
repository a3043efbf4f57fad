import { chmod, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { OAuthClient, StoredTokens, TokenStore } from "@a2a-connect/auth/client";
import type { CliIo } from "../cli-io.ts";
import { isObject, parseJson } from "../json.ts";
import { replaceFile } from "../keys/write-file.ts";

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

/** All logins; a file that is not there, or is damaged, has none. */
export async function readLogins(io: Pick<CliIo, "home">): Promise<readonly Login[]> {
  const text = await readFile(loginsFile(io), "utf8").catch(() => "");
  const logins = parseJson(text);
  return Array.isArray(logins) ? logins.filter((each) => isObject(each) && isObject(each["tokens"])) : [];
}

/** @throws CliError USAGE when the file cannot be written */
export async function writeLogins(logins: readonly Login[], io: Pick<CliIo, "home" | "cwd">): Promise<void> {
  const file = loginsFile(io);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await chmod(dirname(file), 0o700);
  await replaceFile(file, `${JSON.stringify(logins, null, 1)}\n`, io, 0o600);
}

/** Keeps the tokens of a login in the file. */
export function loginStore(login: Omit<Login, "tokens">, io: Pick<CliIo, "home" | "cwd">): TokenStore {
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
