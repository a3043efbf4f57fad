import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text as readAll } from "node:stream/consumers";
import { runCli } from "@a2a-connect/cli";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleProgram } from "../../packages/cli/test-support/bundled-program.ts";
import type { ExpectedVerdict, Vector, VectorProfile } from "./vector.ts";
import { vectorProfiles } from "./vector.ts";
import { cardTextOf, readVectors } from "./vector-files.ts";
import { serveNetwork } from "./vector-network.ts";

const vectors = readVectors();

/** What the command has no flag for. */
const notSaid: Readonly<Record<string, string>> = {
  "alg-not-in-policy": "no flag says which algorithms count",
  "kid-revoked": "no flag revokes a key: it is left out",
  "attack-stripped-mtls-minimum-security": "no flag says which schemes are demanded",
  "jku-too-large": "no flag says how large a key set may be",
  "jku-not-enabled": "without a key the command asks the card's own origin",
  "jku-unprotected": "without a key the command asks the card's own origin",
};

/** What the command refuses before there is a verdict, and by which error: a text too long to read. */
const refusedBefore: Readonly<Record<string, string>> = {
  "mebibyte-of-spaces": "A2ACLI_ERR_CARD_INVALID",
};

interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "a2a-vectors-"));
  for (const [name, vector] of vectors) {
    await writeFile(join(folder, `${name}.json`), cardTextOf(vector));
    await writeFile(join(folder, `${name}.keys.json`), JSON.stringify(vector.keys));
  }
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe("a2a card verify -o json", () => {
  it("is left out only for vectors that there are", () => {
    const leftOut = [...Object.keys(notSaid), ...Object.keys(refusedBefore)];
    expect(leftOut.filter((name) => !vectors.has(name))).toEqual([]);
  });

  for (const [name, vector] of vectors) {
    if (notSaid[name] !== undefined) continue;
    const code = refusedBefore[name];
    if (code !== undefined) {
      it(`gives no verdict on ${name}`, async () => {
        const result = await run(verifyArguments(name, vector, "strict"));
        expect(JSON.parse(result.stdout)).toMatchObject({ error: { code } });
        expect(result.exitCode).not.toBe(0);
      });
      continue;
    }
    for (const profile of vectorProfiles) {
      it(`says of ${name} under ${profile} what it must`, async () => {
        await using network = await networkOf(vector);
        const result = await run(verifyArguments(name, vector, profile));
        expect(result.stderr).not.toContain("ERR_");
        expect(verdictOf(result)).toEqual({
          ...vector.expected[profile],
          uncovered: [...vector.expected[profile].uncovered].sort(),
        });
        expect(result.exitCode).toBe(vector.expected[profile].verified ? 0 : 1);
        expect(network.asked.filter((url) => url !== vector.url)).toEqual(vector.asked ?? []);
      });
    }
  }

  for (const name of ["empty-tags", "attack-stripped-requirement", "alg-none", "mebibyte-of-brackets"]) {
    it(`says it of ${name} as a process of its own, too`, async () => {
      const vector = vectors.get(name);
      if (vector === undefined) throw new Error("there is no such vector");
      const result = await runProcess(verifyArguments(name, vector, "js-1"));
      expect(verdictOf(result)).toEqual({
        ...vector.expected["js-1"],
        uncovered: [...vector.expected["js-1"].uncovered].sort(),
      });
      expect(result.exitCode).toBe(vector.expected["js-1"].verified ? 0 : 1);
    });
  }
});

describe("a2a card canonical", () => {
  for (const [name, { canonical }] of vectors) {
    it(`prints ${canonical === null ? "nothing" : "exactly the canonical bytes"} of ${name}`, async () => {
      const result = await run(["card", "canonical", `${name}.json`]);
      expect(result.stdout).toBe(canonical ?? "");
      expect(result.stderr).toMatch(canonical === null ? /A2ACLI_ERR_CARD_INVALID/ : /^$/);
      expect(result.exitCode === 0).toBe(canonical !== null);
    });
  }
});

function verifyArguments(name: string, vector: Vector, profile: VectorProfile): readonly string[] {
  const { jku, allowUncovered, minSigners, minimumSecurity } = vector.policy;
  const hosts = (jku as { readonly hosts?: readonly string[] } | undefined)?.hosts ?? []; // as the schema says
  return [
    ...["card", "verify", vector.jwks === undefined ? `${name}.json` : (vector.url ?? ""), "-o", "json"],
    ...(vector.keys.keys.length === 0 ? [] : ["--key", `${name}.keys.json`]),
    ...hosts.flatMap((host) => ["--jwks-host", host]),
    ...(profile === "strict" ? [] : ["--profile", profile]),
    ...(allowUncovered === true ? ["--allow-uncovered"] : []),
    ...(minSigners === undefined ? [] : ["--min-signers", String(minSigners)]),
    ...(minimumSecurity === undefined ? [] : ["--require-security"]),
  ];
}

/** The vector's network, with the card itself where it came from. */
async function networkOf(vector: Vector) {
  const { url, jwks } = vector;
  if (url === undefined || jwks === undefined) {
    return { asked: [], async [Symbol.asyncDispose]() {} };
  }
  const card = { status: 200, headers: { "content-type": "application/json" }, body: cardTextOf(vector) };
  return await serveNetwork({ ...jwks, [url]: card });
}

/** The real command in this process: only its input and output are ours. */
async function run(argv: readonly string[]): Promise<Result> {
  const printed = { stdout: "", stderr: "" };
  const sink = (name: keyof typeof printed) => ({
    isTerminal: false,
    write: async (text: string) => {
      printed[name] += text;
    },
  });
  const exitCode = await runCli(argv, {
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    stdin: Readable.from([]),
    env: {},
    cwd: folder,
    home: folder,
    interrupted: new AbortController().signal,
  });
  return { ...printed, exitCode };
}

async function runProcess(argv: readonly string[]): Promise<Result> {
  const main = await bundleProgram(new URL("../../packages/cli/src/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, ...argv], {
    cwd: folder,
    env: { ...process.env, HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  const [stdout, stderr] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);
  const [exitCode] = await closed;
  return { stdout, stderr, exitCode };
}

function verdictOf({ stdout }: Result): ExpectedVerdict {
  const { verified, profile, kid, alg, reason, uncovered } = JSON.parse(stdout);
  return { verified, profile, kid, alg, reason, uncovered: [...uncovered].sort() };
}
