import {
  constantTimeEqual,
  formatHex,
  inThreadTurn,
  parseBase64,
  parseHex,
  RecentMap,
  sha256Hex,
} from "@a2a-connect/core/internal";
import type { AuthGate, Caller, Credentials, Verdict } from "../gate.ts";
import { defaultScopes } from "../policy.ts";
import { readAuthorization } from "./bearer-token.ts";
import { CheckTurns } from "./check-turns.ts";

/** One user: what is kept of the password, and what for. */
export interface BasicUser {
  /** What `hashPassword` made of the password. */
  readonly hash: string;
  /** Default: those that every call needs. */
  readonly scopes?: readonly string[];
  /** Default: the request may name any. */
  readonly tenant?: string;
}

/** Who may call with a password. */
export interface BasicOptions {
  readonly users: Readonly<Record<string, BasicUser>>;
  /** Shown by browsers when they ask for the password. Default "agents". */
  readonly realm?: string;
}

/** What makes each guess at a password slow. */
const iterations = 600_000;
/**
 * Guesses that are tested at a time, one for each sender; each takes a core and one of Node's four threads for a third of a second.
 * More of them would test no more in a second on two cores, and every digest of a key would wait for one of them to end.
 */
const maxTests = 2;

/** Of all gates together, because the threads are the process's. */
const tests = new CheckTurns({ max: maxTests, maxOfOne: 1, wrongComeLast: true, what: "passwords" });

const rememberedMs = 300_000;
const maxLength = 1024;

/** A password as it is kept: PBKDF2 with SHA-256, 600,000 rounds and a salt of its own. */
export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  return `pbkdf2-sha256:${iterations}:${formatHex(salt)}:${formatHex(await derive(password, salt, iterations))}`;
}

/**
 * A gate for HTTP Basic (RFC 7617): user and password. The principal is `user:NAME`. A right password is remembered for five
 * minutes by its SHA-256, so that calls are fast; a wrong one costs what a right one does, also for a user who does not exist.
 *
 * @throws Error when a hash is malformed
 */
export function basic({ users, realm = "agents" }: BasicOptions): AuthGate {
  const kept = new Map(Object.entries(users).map(([name, user]) => [name, parseUser(name, user)]));
  const stranger = parseUser("", {
    hash: `pbkdf2-sha256:${iterations}:${"00".repeat(16)}:${"00".repeat(32)}`,
  });
  const remembered = new RecentMap<string, { readonly caller: Caller; readonly until: number }>(1_000);

  function recall(digest: string): Caller | undefined {
    const known = remembered.get(digest);
    return known !== undefined && known.until > Date.now() ? known.caller : undefined;
  }

  async function check(field: string, credentials: Credentials): Promise<Verdict> {
    const [name, password] = parsePair(field) ?? [];
    if (name === undefined || password === undefined)
      return { refused: "the Basic credentials are malformed" };
    const digest = await sha256Hex(`${name}:${password}`);
    const known = recall(digest);
    if (known !== undefined) return known;
    return tests.check(credentials, async () => {
      const meanwhile = recall(digest); // the caller's first calls may come together
      if (meanwhile !== undefined) return meanwhile;
      const user = kept.get(name) ?? stranger;
      const derived = await inThreadTurn(credentials.share, () => derive(password, user.salt, user.rounds));
      if (!constantTimeEqual(derived, user.derived) || user === stranger) {
        return { refused: "the user or the password is wrong" };
      }
      remembered.set(digest, { caller: user.caller, until: Date.now() + rememberedMs });
      return user.caller;
    });
  }

  return {
    scheme: { scheme: { case: "httpAuthSecurityScheme", value: { scheme: "Basic" } } },
    challenge: { scheme: "Basic", params: { realm, charset: "UTF-8" } },
    hasScopes: false,
    verify(credentials: Credentials) {
      const field = readAuthorization(credentials, "basic");
      if (typeof field !== "string") return field;
      return field.length > maxLength
        ? { refused: "the Basic credentials are too long" }
        : check(field, credentials);
    },
  };
}

interface ParsedUser {
  readonly caller: Caller;
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly derived: Uint8Array;
  readonly rounds: number;
}

function parseUser(name: string, { hash, scopes = defaultScopes, tenant }: BasicUser): ParsedUser {
  const [, rounds, salt = "", derived = ""] =
    /^pbkdf2-sha256:(\d{4,8}):([\da-f]{32}):([\da-f]{64})$/.exec(hash) ?? [];
  if (rounds === undefined) {
    throw new Error(`the hash of the user ${JSON.stringify(name)} is not what hashPassword returns`);
  }
  const caller = { principal: `user:${name}`, scopes, claims: {}, tenant };
  return { caller, rounds: Number(rounds), salt: parseHex(salt), derived: parseHex(derived) };
}

async function derive(password: string, salt: Uint8Array<ArrayBuffer>, rounds: number): Promise<Uint8Array> {
  const text = new TextEncoder().encode(password);
  const key = await crypto.subtle.importKey("raw", text, "PBKDF2", false, ["deriveBits"]);
  const parameters = { name: "PBKDF2", hash: "SHA-256", salt, iterations: rounds };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, 256));
}

function parsePair(field: string): readonly [name: string, password: string] | undefined {
  const bytes = parseBase64(field.slice("basic ".length).trim());
  if (bytes === undefined) return undefined;
  const pair = new TextDecoder().decode(bytes);
  const colon = pair.indexOf(":");
  return colon < 1 ? undefined : [pair.slice(0, colon), pair.slice(colon + 1)];
}
