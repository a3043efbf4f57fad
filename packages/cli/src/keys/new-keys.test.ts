import { createPrivateKey } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { thumbprintOf } from "@a2a-connect/signing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { field, shellWords } from "../../test-support/fields.ts";
import { runCommand, spawnCommand } from "../../test-support/run-command.ts";
import { plainCard } from "../../test-support/sick-server.ts";
import { replaceFile } from "../write-file.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-keys-"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

const keys = (...words: readonly string[]) => runCommand(["keys", ...words], { cwd });
const readJson = async (name: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(join(cwd, name), "utf8"));
const mode = async (name: string) => (await stat(join(cwd, name))).mode & 0o777;

describe("a2a keys new", () => {
  it("writes a private key for its owner alone, and the public one beside it", async () => {
    const { stdout, stderr, exitCode } = await spawnCommand(["keys", "new"], { cwd }).result;
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const secret = await readJson("a2a-signing-key.json");
    const { d, ...rest } = secret;
    expect([await mode("a2a-signing-key.json"), typeof d]).toEqual([0o600, "string"]);
    const open = await readJson("a2a-signing-key.public.json");
    expect(open).toMatchObject({ kty: "EC", crv: "P-256", x: rest["x"], y: rest["y"], alg: "ES256" });
    expect(Object.keys(open)).not.toContain("d");
    const thumbprint = await thumbprintOf(open);
    expect([field(stdout, "Key"), field(stdout, "Algorithm"), field(stdout, "Thumbprint")]).toEqual([
      thumbprint,
      "ES256",
      thumbprint,
    ]);
    expect(stdout).toContain("a2a card sign card.json --key a2a-signing-key.json");
    expect(stdout).not.toContain(String(d));
  });

  for (const alg of ["ES256", "ES384", "EdDSA", "Ed25519", "RS256", "PS256"]) {
    it(`makes a key for ${alg} that signs`, async () => {
      await keys("new", "--alg", alg, "--kid", "k", "--out", "key.json");
      await writeFile(join(cwd, "card.json"), JSON.stringify(plainCard));
      const signed = await runCommand(["card", "sign", "card.json", "--key", "key.json"], { cwd });
      expect(signed.exitCode).toBe(0);
      expect(signed.stderr).toContain(`signed by key k with ${alg}`);
    });
  }

  it("overwrites nothing, neither of the two, unless it is told to", async () => {
    await writeFile(join(cwd, "key.public.json"), "mine");
    const refused = await keys("new", "--out", "key.json");
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toMatch(/key\.public\.json exists already; nothing was written/);
    expect(await readdir(cwd)).toEqual(["key.public.json"]);
    await writeFile(join(cwd, "key.json"), "mine", { mode: 0o644 });
    expect((await keys("new", "--out", "key.json", "--force")).exitCode).toBe(0);
    expect([await mode("key.json"), (await readJson("key.json"))["kty"]]).toEqual([0o600, "EC"]);
    expect((await readdir(cwd)).toSorted()).toEqual(["key.json", "key.public.json"]);
  });

  it("writes PEM that others read, and says that it has no id", async () => {
    const { stdout } = await keys("new", "--pem", "--kid", "summer");
    const pem = await readFile(join(cwd, "a2a-signing-key.pem"), "utf8");
    expect([createPrivateKey(pem).asymmetricKeyType, await mode("a2a-signing-key.pem")]).toEqual([
      "ec",
      0o600,
    ]);
    expect(await readJson("a2a-signing-key.public.json")).toMatchObject({ kid: "summer" });
    expect(stdout).toContain("--key a2a-signing-key.pem --kid summer");
  });

  it("prints steps that do what they say, also where PEM leaves things out", async () => {
    const { stdout } = await keys("new", "--pem", "--alg", "PS256", "--kid", "my key", "--out", "ps.pem");
    expect(stdout).toContain("--key ps.pem --alg PS256 --kid 'my key' --in-place");
    expect(stdout).not.toContain("a2a serve agent.ts");
    expect(stdout).toMatch(/^# To use the key with a2a serve, make it without --pem/m);
    await writeFile(join(cwd, "card.json"), JSON.stringify(plainCard));
    const steps = stdout.split("\n").filter((line) => line.startsWith("a2a card "));
    expect(steps).toHaveLength(2);
    for (const step of steps) {
      const { stderr, exitCode } = await runCommand(shellWords(step).slice(1), { cwd });
      expect({ stderr, exitCode }).toMatchObject({ exitCode: 0 });
    }
    for (const alg of ["ES384", "RS256"]) {
      const plain = await keys("new", "--pem", "--alg", alg, "--out", `${alg}.pem`);
      expect(plain.stdout).toContain(`--key ${alg}.pem --in-place`);
      expect(plain.stdout).toContain(`a2a serve agent.ts --sign-key ${alg}.pem`);
    }
  });

  for (const kid of ["", "a\u001b[31mb\n", "k".repeat(257)]) {
    it(`refuses the id ${JSON.stringify(kid.slice(0, 20))}, and writes nothing`, async () => {
      const { stdout, stderr, exitCode } = await keys("new", "--kid", kid);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(/the id of the key \(kid\) is empty/);
      expect(await readdir(cwd)).toEqual([]);
    });
  }

  it("says why it cannot write a file, and writes into what is none", async () => {
    const { stderr, exitCode } = await keys("new", "--out", "nodir/k.json");
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error: nodir\/k\.json cannot be written: its directory does not exist.*\n.*mkdir -p/,
      ),
    ]);
    await expect(replaceFile("/dev/full", "text", { cwd })).rejects.toThrow("there is no space left");
    expect((await stat("/dev/full")).isCharacterDevice()).toBe(true);
  });

  it("prints the public key alone with -o json", async () => {
    const { stdout } = await keys("new", "-o", "json");
    const { d, p, q } = await readJson("a2a-signing-key.json");
    expect([typeof d, p, q]).toEqual(["string", undefined, undefined]);
    expect(JSON.parse(stdout)).toEqual({
      publicKey: await readJson("a2a-signing-key.public.json"),
      files: { private: "a2a-signing-key.json", public: "a2a-signing-key.public.json" },
    });
    expect(stdout).not.toContain(String(d));
  });

  it("prints the private key and nothing else with --out -", async () => {
    const { stdout, stderr, exitCode } = await spawnCommand(["keys", "new", "--out", "-"], { cwd }).result;
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ kty: "EC", d: expect.any(String) });
    expect(await readdir(cwd)).toEqual([]);
  });

  it("refuses an algorithm that does not sign cards", async () => {
    expect(await keys("new", "--alg", "HS256")).toMatchObject({ exitCode: 2, stdout: "" });
  });
});

describe("a2a keys public", () => {
  it("prints the key set of a private key without its secret", async () => {
    await keys("new", "--kid", "summer");
    const { stdout, exitCode } = await keys("public", "a2a-signing-key.json");
    expect(exitCode).toBe(0);
    const { d } = await readJson("a2a-signing-key.json");
    expect(JSON.parse(stdout)).toEqual({ keys: [await readJson("a2a-signing-key.public.json")] });
    expect(stdout).not.toContain(String(d));
    expect((await keys("public", "a2a-signing-key.public.json", "-o", "json")).stdout).toBe(stdout);
  });

  it("gives PEM the id that it is told, else its thumbprint", async () => {
    await keys("new", "--pem");
    const named = await keys("public", "a2a-signing-key.pem", "--kid", "summer");
    expect(JSON.parse(named.stdout)).toMatchObject({ keys: [{ kid: "summer", kty: "EC" }] });
    const { kid } = await readJson("a2a-signing-key.public.json");
    expect(JSON.parse((await keys("public", "a2a-signing-key.pem")).stdout)).toMatchObject({
      keys: [{ kid }],
    });
  });

  it("makes one key set of several files, and of the standard input", async () => {
    for (const name of ["old", "new"]) await keys("new", "--kid", name, "--out", `${name}.json`);
    const both = await keys("public", "old.public.json", "new.json");
    expect(JSON.parse(both.stdout)).toEqual({
      keys: [await readJson("old.public.json"), await readJson("new.public.json")],
    });
    const stdin = await readFile(join(cwd, "new.json"), "utf8");
    const piped = await runCommand(["keys", "public", "old.json", "-"], { cwd, stdin });
    expect(piped.stdout).toBe(both.stdout);
    expect(await runCommand(["keys", "public", "-"], { cwd })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^error: the standard input has no key/),
    });
    expect((await keys("public", "old.json", "old.public.json")).stdout).toBe(
      (await keys("public", "old.json")).stdout,
    );
    await keys("new", "--kid", "old", "--out", "namesake.json");
    expect(await keys("public", "old.json", "namesake.json")).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringMatching(/two keys have the id "old"/),
    });
  });

  it("leaves out what counts no more, and says so", async () => {
    await keys("new", "--kid", "summer");
    const text = JSON.stringify({ ...(await readJson("a2a-signing-key.public.json")), exp: 1 });
    await writeFile(join(cwd, "past.json"), text);
    const { stdout, stderr } = await keys("public", "past.json");
    expect([JSON.parse(stdout), stderr]).toEqual([
      { keys: [] },
      expect.stringMatching(/^warning: .*"summer" is not in the key set/),
    ]);
  });

  for (const [what, words, sentence] of [
    [
      "gives no key another id than its own",
      ["a2a-signing-key.json", "--kid", "other"],
      /has the id "summer", which its signatures name/,
    ],
    ["gives no id that nobody looks for", ["key.pem", "--kid", ""], /the id of the key \(kid\) is empty/],
    [
      "gives no id to several",
      ["key.pem", "a2a-signing-key.json", "--kid", "x"],
      /--kid names one key, and you gave 2 files/,
    ],
    ["reads no directory", ["."], /^error: \. cannot be read: it is a directory/],
    ["reads no file that is not there", ["nowhere"], /^error: nowhere cannot be read: there is no such file/],
  ] as const) {
    it(what, async () => {
      await keys("new", "--kid", "summer");
      await keys("new", "--pem", "--out", "key.pem");
      const { stdout, stderr, exitCode } = await keys("public", ...words);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(sentence);
    });
  }

  for (const [what, text] of [
    ["no key", "hello hunter2"],
    ["JSON that is no key", '{"hunter2":1}'],
    ["a symmetric key", '{"kty":"oct","k":"aHVudGVyMg","kid":"hunter2"}'],
    ["half a PEM", "-----BEGIN PRIVATE KEY-----\nhunter2"],
  ] as const) {
    it(`refuses ${what}, and does not repeat it`, async () => {
      await writeFile(join(cwd, "odd.json"), text);
      const { stdout, stderr, exitCode } = await keys("public", "odd.json");
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(/^error: odd\.json .*\[A2ACLI_ERR_USAGE\]/);
      expect(stderr).not.toMatch(/hunter2|aHVudGVyMg/);
    });
  }
});
