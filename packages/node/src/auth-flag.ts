import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type ApiKey, type AuthOptions, apiKey, hashApiKey, openIdConnect } from "@a2a-connect/auth";

/** The header field of keys that a file has. */
const keyHeader = "X-API-Key";

/** What a command knows besides its flag. */
export interface AuthFlagContext {
  /** This server as an OpenID provider names it in `aud`: its base URL. */
  readonly audience: string;
  /** Tells the user the key of a file that was just made; it is told once, and kept nowhere. */
  readonly say: (sentence: string) => void;
}

/**
 * The option `auth` as commands have it: `oidc=ISSUER` for access tokens of an OpenID provider, `api-key=FILE` for the keys in a JSON
 * file: `{ "alice": { "hash": "sha256:…" } }`. A file that does not exist is made, with one key.
 *
 * @throws Error with a sentence about what is wrong
 */
export async function parseAuthFlag(text: string, { audience, say }: AuthFlagContext): Promise<AuthOptions> {
  const [kind = "", ...rest] = text.split("=");
  const value = rest.join("=");
  if (kind === "oidc" && value !== "") {
    return { gates: { oidc: openIdConnect({ issuer: value, audience }) } };
  }
  if (kind === "api-key" && value !== "") {
    if (!existsSync(value)) await makeKeys(value, say);
    return { gates: { key: apiKey({ header: keyHeader, keys: readKeys(value) }) } };
  }
  throw new Error(`--auth is oidc=ISSUER or api-key=FILE, not ${JSON.stringify(text)}`);
}

async function makeKeys(file: string, say: (sentence: string) => void): Promise<void> {
  const key = randomBytes(24).toString("base64url");
  const keys = { default: { hash: await hashApiKey(key) } };
  writeFileSync(file, `${JSON.stringify(keys, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
  say(`made ${file} with a key for "default"; it is shown only now, send it as ${keyHeader}: ${key}`);
}

function readKeys(file: string): Readonly<Record<string, ApiKey>> {
  const fault = `${file} has no API keys: it is JSON such as { "alice": { "hash": "sha256:…" } }`;
  let keys: unknown;
  try {
    keys = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new Error(fault, { cause });
  }
  if (typeof keys !== "object" || keys === null || !Object.values(keys).every(isKey)) throw new Error(fault);
  return keys as Readonly<Record<string, ApiKey>>; // each was tested
}

function isKey(value: unknown): boolean {
  return typeof value === "object" && value !== null && "hash" in value && typeof value.hash === "string";
}
