import { mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServeOptions, serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { canonicalCard, canonicalSignedCard } from "@a2a-connect/signing";
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
    expect(stdout).toBe(canonicalSignedCard(stdout)); // and no line feed: its SHA-256 is the ETag of the card
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

  it("replaces what the same key has signed, and says who else has", async () => {
    const once = await sign(["card.json", "--key", "first.json"]);
    const both = await sign(["-", "--key", "second.json"], once.stdout);
    expect(both.stderr).toMatch(/the signatures by "first" stay in the card: .*--replace/);
    const edited = JSON.stringify({ ...JSON.parse(both.stdout), description: "Edited." });
    const anew = await sign(["-", "--key", "first.json"], edited);
    expect(signatures(anew.stdout).map((_, index) => headerOf(anew.stdout, index).kid)).toEqual([
      "first",
      "second",
    ]);
    expect(await verify(anew.stdout, "--key", first.publicKey)).toBe(0);
  });

  it("takes the key from the standard input, and one of a key set by its id", async () => {
    const [one, other] = await Promise.all(
      ["first.json", "second.json"].map((name) => readFile(join(cwd, name), "utf8")),
    );
    const piped = await sign(["card.json", "--key", "-"], one);
    expect(headerOf(piped.stdout)).toMatchObject({ kid: "first" });
    const set = `{"keys":[${one},${other}]}`;
    const chosen = await sign(["card.json", "--key", "-", "--kid", "second"], set);
    expect(headerOf(chosen.stdout)).toMatchObject({ kid: "second", alg: "EdDSA" });
    for (const words of [[], ["--kid", "third"]]) {
      const { stderr, exitCode } = await sign(["card.json", "--key", "-", ...words], set);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('its ids are: "first", "second"')]);
    }
  });

  for (const [what, members, problem] of [
    ["is expired", { exp: 1_600_000_000 }, /the key expired at 2020-09-13T12:26:40/],
    ["is not valid yet", { nbf: 32_503_680_000 }, /the key does not count before 3000-01-01/],
    ["is revoked", { revoked: true }, /the key is marked as revoked/],
    ["has a date that is none", { exp: "tomorrow" }, /./],
  ] as const) {
    it(`does not sign with a key that ${what}`, async () => {
      const key = JSON.stringify({ ...JSON.parse(await readFile(first.privateKey, "utf8")), ...members });
      await writeFile(join(cwd, "odd.json"), key);
      const { stdout, stderr, exitCode } = await sign(["card.json", "--key", "odd.json"]);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(problem);
    });
  }

  it("says which members nobody knows: they are signed like the others", async () => {
    const odd = {
      ...plainCard,
      bogus: 1,
      skills: [{ id: "a", name: "b", description: "c", tags: ["d"], nam: 1 }],
    };
    const { stdout, stderr } = await sign(["-", "--key", "first.json"], JSON.stringify(odd));
    expect(stderr).toMatch(/^warning: not in A2A 1\.0: bogus, skills\[0\]\.nam; a2a signs these members/m);
    expect(JSON.parse(stdout)).toMatchObject({ bogus: 1 });
  });

  it("signs the card of 1.0 that a card for callers of 0.3 as well contains", async () => {
    const agent = defineAgent({
      card: {
        name: "Both",
        skills: [
          { id: "s", name: "S", description: "Does it.", securityRequirements: [{ schemes: { k: {} } }] },
        ],
        securitySchemes: {
          k: { scheme: { case: "apiKeySecurityScheme", value: { location: "header", name: "X-Key" } } },
        },
        securityRequirements: [{ schemes: { k: { list: [] } } }],
      },
      *execute(turn) {
        yield turn.working();
      },
    });
    const cardOf = async (options: ServeOptions) => {
      const served = await serve(agent, {
        store: createMemoryTaskStore(),
        publicUrl: "https://both.example",
        allowedHosts: ["*"],
        ...options,
      });
      const card = await (await fetch(`${served.url}/.well-known/agent-card.json`)).text();
      await served.close({ graceMs: 0 });
      return card;
    };
    const both = await cardOf({});
    const [one, other] = await Promise.all(
      [await cardOf({ protocolVersions: ["1.0"] }), both].map((card) =>
        runCommand(["card", "canonical", "-"], { cwd, stdin: card }),
      ),
    );
    expect(both).toContain('"type":"apiKey"');
    expect(other?.stdout).toBe(one?.stdout);
    const { stdout, stderr } = await sign(["-", "--key", "first.json"], both);
    expect(canonicalCard(stdout)).toBe(one?.stdout);
    expect(stderr).toContain("the card's members of A2A 0.3");
    expect(stderr).not.toContain("not in A2A 1.0");
    const again = await runCommand(["card", "canonical", "-"], { cwd, stdin: stdout });
    expect(again.stdout).toBe(one?.stdout);
  });

  it("speaks of the Python of before only when it is asked to", async () => {
    const card = JSON.stringify({ ...plainCard, capabilities: { streaming: true }, name: "Büro" });
    expect((await sign(["-", "--key", "first.json"], card)).stderr).not.toContain("warning");
    const { stderr } = await sign(["-", "--key", "first.json", "--legacy", "python-1"], card);
    expect(stderr).toMatch(/^warning: .*1\.1\.3 \(python-1\).* in another way$/m);
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
    expect(signed).toBe(canonicalSignedCard(signed));
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

  for (const [where, words] of [
    ["--out", ["card.json", "--key", "own.json", "--out", "own.json"]],
    ["--out, by another name", ["card.json", "--key", "own.json", "--out", "link.json"]],
    ["--in-place", ["own.json", "--key", "link.json", "--in-place"]],
  ] as const) {
    it(`never writes over the key that it signs with: ${where}`, async () => {
      await runCommand(["keys", "new", "--out", "own.json", "--force"], { cwd });
      await rm(join(cwd, "link.json"), { force: true });
      await symlink("own.json", join(cwd, "link.json"));
      const key = await readFile(join(cwd, "own.json"), "utf8");
      const { stdout, stderr, exitCode } = await sign(words);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(/is the key itself.*A2ACLI_ERR_USAGE/);
      expect(await readFile(join(cwd, "own.json"), "utf8")).toBe(key);
    });
  }

  for (const [what, content] of [
    ["another private key", () => readFile(second.privateKey, "utf8")],
    ["a public key", () => readFile(first.publicKey, "utf8")],
    ["a key that calls itself something", () => '{"kty":"OKP","name":"mine"}'],
    ["a key set", () => '{"keys":[],"name":"mine"}'],
    ["other JSON", () => '{"version":"1.0.0"}'],
    ["a list", () => '[{"name":"x"}]'],
    ["what is no JSON", () => "name: x\n"],
    ["what is no text", () => Buffer.from([0x7b, 0xff, 0x7d])],
    ["what is too long for a card", () => `{"name":"${"x".repeat(1024 * 1024)}"}`],
  ] as const) {
    it(`writes over ${what} only with --force`, async () => {
      const before = Buffer.from(await content());
      await writeFile(join(cwd, "target.json"), before);
      const words = ["card.json", "--key", "first.json", "--out", "target.json"];
      const { stdout, stderr, exitCode } = await sign(words);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(
        /target\.json exists and is not a readable card.*A2ACLI_ERR_USAGE[\s\S]*--force/,
      );
      expect(before.equals(await readFile(join(cwd, "target.json")))).toBe(true);
      expect((await sign([...words, "--force"])).exitCode).toBe(0);
      const signed = await readFile(join(cwd, "target.json"), "utf8");
      expect(await verify(signed, "--key", first.publicKey)).toBe(0);
    });
  }

  for (const [what, content] of [
    ["a card", text],
    ["a card of 0.3", '{"name":"x","url":"http://x/","protocolVersion":"0.3.0"}'],
    ["a card that is not finished", '{"supportedInterfaces":[]}'],
  ] as const) {
    it(`writes over ${what}`, async () => {
      await writeFile(join(cwd, "target.json"), content);
      const { exitCode } = await sign(["card.json", "--key", "first.json", "--out", "target.json"]);
      expect([exitCode, signatures(await readFile(join(cwd, "target.json"), "utf8")).length]).toEqual([0, 1]);
    });
  }

  it("writes into a device", async () => {
    expect((await sign(["card.json", "--key", "first.json", "--out", "/dev/null"])).exitCode).toBe(0);
  });

  it("does not write over the key that it signs with, even with --force", async () => {
    const { stderr, exitCode } = await sign([
      "card.json",
      "--key",
      "first.json",
      "--out",
      "first.json",
      "--force",
    ]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("is the key itself")]);
  });

  it("prints the card with --out -, as keys new does", async () => {
    const { stdout, exitCode } = await sign(["card.json", "--key", "first.json", "--out", "-"]);
    expect([exitCode, stdout]).toEqual([
      0,
      (await sign(["card.json", "--key", "first.json"])).stdout.replace(
        /"signature":"[^"]+"/,
        /"signature":"[^"]+"/.exec(stdout)?.[0] ?? "",
      ),
    ]);
    await expect(stat(join(cwd, "-"))).rejects.toThrow("ENOENT");
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
    [
      "an algorithm that it should not be told",
      ["card.json", "--key", "first.json", "--alg", "RS256"],
      "",
      2,
      /leave --alg out: this key signs with ES256/,
    ],
    [
      "another id than the key's",
      ["card.json", "--key", "first.json", "--kid", "other"],
      "",
      2,
      /has the id "first".*\n.*leave --kid out/,
    ],
    [
      "a key set by no URL",
      ["card.json", "--key", "first.json", "--jku", "notaurl"],
      "",
      2,
      /--jku: .*not an absolute URL.*A2ACLI_ERR_USAGE/,
    ],
    [
      "a key set by plain http",
      ["card.json", "--key", "first.json", "--jku", "http://a.example/"],
      "",
      2,
      /--jku: .*https/,
    ],
    [
      "a URL",
      ["https://a.example/card.json", "--key", "first.json"],
      "",
      2,
      /a2a card get https:\/\/a\.example\/card\.json -o json > card\.json/,
    ],
    ["card and key on one input", ["-", "--key", "-"], text, 2, /both/],
    [
      "a directory",
      ["card.json", "--key", "first.json", "--out", "."],
      "",
      2,
      /\. cannot be written: it is a directory/,
    ],
    [
      "a place that is not there",
      ["card.json", "--key", "first.json", "--out", "no/x.json"],
      "",
      2,
      /no\/x\.json cannot be written: its directory does not exist.*\n.*mkdir/,
    ],
    [
      "a card that is a directory",
      [".", "--key", "first.json"],
      "",
      3,
      /\. cannot be read: it is a directory/,
    ],
    ["YAML", ["-", "--key", "first.json"], "name: x\nversion: 1\n", 1, /\(not-json\)/],
    ["a byte order mark", ["-", "--key", "first.json"], `\ufeff${text}`, 1, /\(not-json\)/],
    ["a web page", ["-", "--key", "first.json"], "<!doctype html>", 1, /\(not-json\)/],
    ["nothing", ["-", "--key", "first.json"], "", 1, /\(not-json\)/],
    [
      "a card of 0.3",
      ["-", "--key", "first.json"],
      '{"name":"x","url":"http://x/","protocolVersion":"0.3.0"}',
      1,
      /is missing.*CARD_INVALID/,
    ],
    [
      "a key in place of the card",
      ["first.json", "--key", "first.json"],
      "",
      1,
      /first\.json: .*CARD_INVALID/,
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
