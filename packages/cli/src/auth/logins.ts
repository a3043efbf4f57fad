import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type CredentialSource,
  createCredentials,
  type OAuthClient,
  type StoredTokens,
  type TokenStore,
} from "@a2a-connect/auth/client";
import type { AgentCard } from "@a2a-connect/proto";
import type { AgentSettings } from "../agent/agent-settings.ts";
import type { CliIo } from "../cli-io.ts";
import { isObject, parseJson } from "../json.ts";
import { keepPrivately } from "../write-file.ts";
import { findKey, findSecretStorage, obtainKey, type SecretStorage, seal, unseal } from "./secret-storage.ts";

export interface Login extends Pick<OAuthClient, "id" | "issuer" | "scopes" | "audience"> {
  /** Origin of the agent, which alone gets the tokens. */
  readonly agent: string;
  /** By the keys of `TokenStore`: one for each audience and choice of scopes. */
  readonly tokens: Readonly<Record<string, StoredTokens>>;
}

export function loginsFile({ home }: Pick<CliIo, "home">): string {
  return join(home, ".local", "state", "a2a-cli", "logins.json");
}

export type LoginsIo = Pick<CliIo, "home" | "cwd" | "env" | "stderr">;

/** All logins; none of a file that is not there, is damaged, or is encrypted while the storage has no key: stderr says so. */
export async function readLogins(
  io: Omit<LoginsIo, "cwd">,
  storage: SecretStorage | undefined = findSecretStorage(io),
): Promise<readonly Login[]> {
  const stored = await readStored(io);
  const logins = isObject(stored) ? await openSealed(stored["sealed"], io, storage) : stored;
  return Array.isArray(logins) ? logins.filter((each) => isObject(each) && isObject(each["tokens"])) : [];
}

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
      `warning: the key that decrypts ${loginsFile(io)} is not in the system's secret storage: unlock that storage, or log in again\n`,
    );
  }
  return parseJson(words ?? "");
}

/** Encrypts the logins when the system's secret storage keeps the key. @throws CliError USAGE when the file cannot be written */
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

/**
 * Where tokens for an agent (its origin) come from, when it wants credentials and none is given: the client that `a2a.config.yaml`
 * names, or a login (`a2a auth login`). Undefined: there is neither.
 */
export async function findTokenSource(
  card: AgentCard,
  agent: string,
  { bearer, apiKey, client, serviceParameters }: AgentSettings,
  io: LoginsIo,
): Promise<CredentialSource | undefined> {
  const isGiven = (bearer ?? apiKey ?? serviceParameters["authorization"]) !== undefined;
  if (isGiven || Object.keys(card.securitySchemes).length === 0) return undefined;
  if (client !== undefined) {
    return createCredentials({ client, fetch });
  }
  const login = (await readLogins(io)).find((each) => each.agent === agent);
  return login && createCredentials({ client: { ...login, store: loginStore(login, io) }, fetch });
}

/** Authorization servers are not in the log of `--debug`: it would have to hide what they answer. */
const fetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init);
