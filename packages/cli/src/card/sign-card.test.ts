import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalSignedCard } from "@a2a-connect/signing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { field } from "../../test-support/fields.ts";
import { runCommand, spawnCommand } from "../../test-support/run-command.ts";
import { plainCard } from "../../test-support/sick-server.ts";
import { createSigner, type Signer } from "../../test-support/signer.ts";

let cwd: string;
let first: Signer;
let second: Signer;
const text = JSON.stringify(plainCard);

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-sign-"));
  first = await createSigner(cwd, "first");
  second = await createSigner(cwd, "second", "--alg", "EdDSA");
});

beforeEach(async () => {
  await writeFile(join(cwd, "card.json"), text);
});

afterAll(async () => {
  await rm(cwd, { recursive: true });
});

const sign = (words: readonly string[], stdin = "") => runCommand(["card", "sign", ...words], { cwd, stdin });
const signatures = (card: string): readonly Record<string, string>[] => JSON.parse(card).signatures;
const headerOf = (card: string, index = 0) =>
  JSON.parse(Buffer.from(signatures(card)[index]?.["protected"] ?? "", "base64url").toString());
const verify = async (card: string, ...flags: readonly string[]) =>
  (await runCommand(["card", "verify", "-", ...flags], { cwd, stdin: card })).exitCode;

describe("a2a card sign", () => {
  it("prints the card as it is to be served, signed, and says who signed on stderr", async () => {
    const { stdout, stderr, exitCode } = await spawnCommand(
      ["card", "sign", "card.json", "--key", "first.json"],
      {
        cwd,
      },
    ).result;
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("signed by key first with ES256")]);
    expect(stdout).toBe(`${canonicalSignedCard(stdout)}\n`);
    expect(JSON.parse(stdout)).toMatchObject({ name: plainCard.name, signatures: [{}] });
    expect(headerOf(stdout)).toMatchObject({ alg: "ES256", kid: "first", typ: "JOSE" });
    expect(await verify(stdout, "--key", first.publicKey)).toBe(0);
    expect(await verify(stdout, "--key", second.publicKey)).toBe(1);
  });

  it("keeps signatures that are there, and drops them with --replace", async () => {
    const once = await sign(["card.json", "--key", "first.json"]);
    const twice = await sign(["-", "--key", "second.json"], once.stdout);
    expect(signatures(twice.stdout)).toHaveLength(2);
    for (const { publicKey } of [first, second])
      expect(await verify(twice.stdout, "--key", publicKey)).toBe(0);
    const replaced = await sign(["-", "--key", "second.json", "--replace"], once.stdout);
    expect(signatures(replaced.stdout)).toHaveLength(1);
    expect(await verify(replaced.stdout, "--key", second.publicKey)).toBe(0);
  });

  it("takes PEM, an id, an algorithm and the URL of the key set", async () => {
    await runCommand(["keys", "new", "--pem", "--out", "key.pem", "--force"], { cwd });
    const jku = "https://agents.example.org/jwks.json";
    const { stdout } = await sign([
      "card.json",
      "--key",
      "key.pem",
      "--kid",
      "mine",
      "--alg",
      "ES256",
      "--jku",
      jku,
    ]);
    expect(headerOf(stdout)).toMatchObject({ alg: "ES256", kid: "mine", jku });
  });

  it("writes over the file with --in-place, which stays as private as it was", async () => {
    await writeFile(join(cwd, "own.json"), text, { mode: 0o600 });
    const { stdout, exitCode } = await sign(["own.json", "--key", "first.json", "--in-place"]);
    expect([exitCode, field(stdout, "File"), field(stdout, "Key")]).toEqual([0, "own.json", "first"]);
    const signed = await readFile(join(cwd, "own.json"), "utf8");
    expect([
      await verify(signed, "--key", first.publicKey),
      (await stat(join(cwd, "own.json"))).mode & 0o777,
    ]).toEqual([0, 0o600]);
  });

  it("writes another file with --out, and is one document with -o json", async () => {
    const { stdout } = await sign(["card.json", "--key", "first.json", "--out", "signed.json", "-o", "json"]);
    expect(JSON.parse(stdout)).toEqual({ file: "signed.json", kid: "first", alg: "ES256", signatures: 1 });
    expect(await readFile(join(cwd, "card.json"), "utf8")).toBe(text);
    expect(await verify(await readFile(join(cwd, "signed.json"), "utf8"), "--key", first.publicKey)).toBe(0);
  });

  it("warns of what older verifiers leave unprotected", async () => {
    const open = { ...plainCard, securityRequirements: [{ schemes: { k: { list: [] } } }] };
    const { stderr } = await sign(["-", "--key", "first.json"], JSON.stringify(open));
    expect(stderr).toMatch(/^warning: .*securityRequirements/m);
  });

  for (const [what, words, stdin, code, sentence] of [
    ["a public key", ["card.json", "--key", "first.public.json"], "", 2, /first\.public\.json cannot sign/],
    ["no key at all", ["card.json", "--key", "card.json"], "", 2, /card\.json cannot sign/],
    [
      "a key that is not there",
      ["card.json", "--key", "nowhere.json"],
      "",
      2,
      /nowhere\.json cannot be read/,
    ],
    [
      "another algorithm than the key's",
      ["card.json", "--key", "first.json", "--alg", "EdDSA"],
      "",
      2,
      /cannot sign/,
    ],
    ["a missing key", ["card.json"], "", 2, /--key/],
    [
      "two places to write to",
      ["card.json", "--key", "first.json", "--in-place", "--out", "x"],
      "",
      2,
      /--out/,
    ],
    [
      "the standard input in place",
      ["-", "--key", "first.json", "--in-place"],
      text,
      2,
      /--in-place needs a file/,
    ],
    ["a card that has no one meaning", ["-", "--key", "first.json"], '{"a":1,"a":2}', 1, /duplicate-member/],
    ["what is no card", ["-", "--key", "first.json"], '{"name":"x"}', 1, /version is missing.*CARD_INVALID/],
    ["a file that is not there", ["nowhere.json", "--key", "first.json"], "", 3, /cannot be read/],
  ] as const) {
    it(`refuses ${what}, and prints no card`, async () => {
      const { stdout, stderr, exitCode } = await sign(words, stdin);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: code });
      expect(stderr).toMatch(sentence);
    });
  }
});
