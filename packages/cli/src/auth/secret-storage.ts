import { execFile } from "node:child_process";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { userInfo } from "node:os";
import type { CliIo } from "../cli-io.ts";

/** What keeps one small secret for the user: the key of the file of logins, because not every storage takes whole tokens. */
export interface SecretStorage {
  /** Undefined: there is none, or the storage is locked. */
  find(): Promise<string | undefined>;
  /** The storage may refuse it; `find` tells. */
  keep(secret: string): Promise<void>;
}

/** How to ask a system's secret storage. The secret goes by stdin: the arguments of a process can be read by others. */
const tools: Partial<
  Record<NodeJS.Platform, { find: string[]; keep: string[]; input(secret: string): string }>
> = {
  linux: {
    find: ["secret-tool", "lookup", "service", "a2a-cli"],
    keep: ["secret-tool", "store", "--label=The key of a2a's logins", "service", "a2a-cli"],
    input: (secret) => secret,
  },
  darwin: {
    find: ["security", "find-generic-password", "-s", "a2a-cli", "-w"],
    keep: ["security", "-i"],
    input: (secret) => `add-generic-password -U -s a2a-cli -a logins -w ${secret}\n`,
  },
};

/** Long enough to unlock it by a dialog. */
const patienceMs = 60_000;

/** The system's secret storage. Undefined where none is known, and for a home directory that is not the user's own. */
export function findSecretStorage({ home, env }: Pick<CliIo, "home" | "env">): SecretStorage | undefined {
  const tool = tools[process.platform];
  if (tool === undefined || home !== ownHome()) return undefined;
  const run = ([command = "", ...args]: string[], input: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      const child = execFile(command, args, { env: { ...env }, timeout: patienceMs }, (error, stdout) =>
        resolve(error === null ? stdout.trim() || undefined : undefined),
      );
      child.stdin?.on("error", () => {}).end(input); // it may end without reading it
    });
  return {
    find: () => run(tool.find, ""),
    keep: async (secret) => void (await run(tool.keep, tool.input(secret))),
  };
}

/** The home directory in the system's record of the user, not `$HOME`. A container may run as a user without a record. */
function ownHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** The key in the storage, made when there is none; undefined when the storage does not keep one. */
export async function obtainKey(storage: SecretStorage): Promise<Buffer | undefined> {
  const found = await findKey(storage);
  if (found === undefined) {
    await storage.keep(randomBytes(keyBytes).toString("base64url"));
    return await findKey(storage);
  }
  return found;
}

export async function findKey(storage: SecretStorage | undefined): Promise<Buffer | undefined> {
  const key = Buffer.from((await storage?.find()) ?? "", "base64url");
  return key.length === keyBytes ? key : undefined;
}

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** A text that only the key opens, as base64. */
export function seal(words: string, key: Buffer): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce);
  const sealed = Buffer.concat([cipher.update(words, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64");
}

/** Undefined when the key is another one, or the text was changed. */
export function unseal(sealed: string, key: Buffer): string | undefined {
  const bytes = Buffer.from(sealed, "base64");
  const head = nonceBytes + tagBytes;
  try {
    const cipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    cipher.setAuthTag(bytes.subarray(nonceBytes, head));
    return Buffer.concat([cipher.update(bytes.subarray(head)), cipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}
