import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cardDigest } from "@a2a-connect/signing";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { field, fieldsOf } from "../../test-support/fields.ts";
import { runCommand, spawnCommand } from "../../test-support/run-command.ts";
import { at, cardPath, send, startSick } from "../../test-support/sick-server.ts";
import {
  type CardHost,
  createSigner,
  type Signer,
  signedCard,
  startCardHost,
  tampered,
} from "../../test-support/signer.ts";

let cwd: string;
let signer: Signer;
let stranger: Signer;
let host: CardHost;
/** Signed by `signer`. */
let card: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-verify-"));
  signer = await createSigner(cwd, "signer");
  stranger = await createSigner(cwd, "stranger");
  host = await startCardHost(signer);
  card = await signedCard(cwd, signer);
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await rm(cwd, { recursive: true });
});

const evilInterfaces = [
  { url: "https://evil.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
];

/** Verifies a text by way of the standard input. */
const verify = (text: string, ...flags: readonly string[]) =>
  runCommand(["card", "verify", "-", ...flags], { cwd, stdin: text });
/** The same, as a program sees it. */
const verdictOf = async (text: string, ...flags: readonly string[]) => {
  const { stdout, exitCode } = await verify(text, ...flags, "-o", "json");
  return { ...JSON.parse(stdout), exitCode };
};
const byKey = () => ["--key", signer.publicKey] as const;

describe("a2a card verify, for people", () => {
  it("says everything about a card that is in order", async () => {
    const { stdout, stderr, exitCode } = await spawnCommand(["card", "verify", "-", ...byKey()], {
      cwd,
      stdin: card,
    }).result;
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(Object.fromEntries(fieldsOf(stdout))).toMatchObject({
      Card: ['"Sick", version "1.0.0"'],
      From: ["the standard input"],
      Verdict: ["VERIFIED"],
      Signature: ["1 of 1, valid (strict)"],
      Header: ['kid "signer", alg "ES256", typ "JOSE", no jku'],
      Key: [expect.stringMatching(/^thumbprint [\w-]{43}, from .*signer\.public\.json$/)],
      Profile: ["strict"],
      Coverage: ["everything in the card except its signatures"],
      Interfaces: ['"localhost:61"'],
      "Asks For": ["no credentials"],
      Trust: [
        expect.stringMatching(
          /^the owner of a key that you gave signed this card \(.*signer\.public\.json\)$/,
        ),
      ],
      Digest: [`SHA-256 ${await cardDigest(card)}`],
      Checked: [expect.stringMatching(/^\d{4}-.*Z, by key .*signer\.public\.json; profile strict$/)],
    });
    expect(stdout.split("\n").length).toBeLessThanOrEqual(25);
    expect(fieldsOf(stdout).has("Next")).toBe(false);
  });

  it("says everything about one that was changed", async () => {
    const { stdout, stderr, exitCode } = await spawnCommand(["card", "verify", "-", ...byKey()], {
      cwd,
      stdin: tampered(card, { name: "Evil", supportedInterfaces: evilInterfaces }),
    }).result;
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 1 });
    expect(Object.fromEntries(fieldsOf(stdout))).toMatchObject({
      Card: ['"Evil", version "1.0.0" (not verified)'],
      Verdict: ["NOT VERIFIED"],
      Reason: ["signature-mismatch"],
      Signature: ["1 of 1, NOT VALID (signature-mismatch)"],
      Header: ['kid "signer", alg "ES256", typ "JOSE", no jku'],
      "Key Tried": [expect.stringMatching(/^thumbprint [\w-]{43}, from .*signer\.public\.json$/)],
      "Would Lead To": ['"evil.example"; asks for no credentials'],
      Next: [expect.stringContaining("a2a card canonical")],
    });
    expect(fieldsOf(stdout).has("Trust")).toBe(false);
  });

  it("shows nothing of a card that a terminal would act upon, and no field that the card made up", async () => {
    const name = "\u001b[31mEvil\u009b2J\u202e\nVerdict: VERIFIED\n\nVerdict: VERIFIED";
    const header = { alg: "ES256", kid: "\u001b]0;x\u0007\nVerdict: VERIFIED", typ: "\u001b[2J" };
    const protectedText = Buffer.from(JSON.stringify(header)).toString("base64url");
    const text = tampered(card, { name, signatures: [{ protected: protectedText, signature: "AAAA" }] });
    const { stdout } = await verify(text, ...byKey());
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_C}]/u);
    expect(fieldsOf(stdout).get("Verdict")).toEqual(["NOT VERIFIED"]);
  });

  it("knows a signature of older software when it sees one, and what that leaves open when it is accepted", async () => {
    const text = await legacyCard();
    const { stdout, exitCode } = await verify(text, ...byKey());
    expect([exitCode, field(stdout, "Reason")]).toEqual([1, "signature-mismatch"]);
    expect(field(stdout, "Because")).toMatch(/has signed this card only by the profile js-1/);
    expect(stdout).not.toContain("--profile");
    const asked = await verify(text, ...byKey(), "--profile", "js-1");
    expect([asked.exitCode, field(asked.stdout, "Profile")]).toEqual([0, "js-1"]);
    expect(fieldsOf(asked.stdout).get("Uncovered")).toEqual(["capabilities"]);
    expect(field(asked.stdout, "Coverage")).toBe(
      "1 field is NOT protected; empty members may have been removed",
    );
    expect(field(asked.stdout, "Alarm")).toMatch(/^removable: /);
  });
});

describe("a2a card verify, for programs", () => {
  it("is one document with null where there is nothing", async () => {
    const { stdout, stderr, exitCode } = await verify(card, ...byKey(), "-o", "json");
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(JSON.parse(stdout)).toEqual({
      verified: true,
      reason: null,
      message: expect.any(String),
      card: { name: "Sick", version: "1.0.0" },
      source: "the standard input",
      sha256: await cardDigest(card),
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      trust: "given-key",
      profile: "strict",
      kid: "signer",
      alg: "ES256",
      uncovered: [],
      signatures: [
        {
          index: 0,
          valid: true,
          kid: "signer",
          alg: "ES256",
          typ: "JOSE",
          jku: null,
          profile: "strict",
          uncovered: [],
          thumbprint: expect.stringMatching(/^[\w-]{43}$/),
          keySource: "trusted",
          fault: null,
          problem: null,
          expires: null,
          tried: [],
        },
      ],
      alarms: [],
      remembered: null,
      changes: [],
    });
  });

  for (const [what, change, reason] of [
    ["a changed card", (text: string) => tampered(text, { description: "Another." }), "signature-mismatch"],
    ["an unsigned card", (text: string) => tampered(text, { signatures: [] }), "no-signature"],
    ["a card without a name", (text: string) => tampered(text, { name: undefined }), "card-invalid"],
    ["what is no JSON", () => "<html>", "not-json"],
    ["a megabyte of brackets", () => "[".repeat(1024 * 1024), "too-deep"],
    ["a member that stands twice", (text: string) => text.replace("{", '{"name":"x",'), "duplicate-member"],
  ] as const) {
    it(`has a verdict for ${what}: ${reason}, exit code 1, and no error`, async () => {
      const { stdout, stderr, exitCode } = await verify(change(card), ...byKey(), "-o", "json");
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 1 });
      expect(JSON.parse(stdout)).toMatchObject({ verified: false, reason, message: expect.any(String) });
    });
  }
});

describe("keys", () => {
  it("that did not sign verify nothing; several are tried", async () => {
    const wrong = ["--key", stranger.publicKey];
    expect(await verdictOf(card, ...wrong)).toMatchObject({ reason: "key-unknown", exitCode: 1 });
    expect(await verdictOf(card, ...wrong, ...byKey())).toMatchObject({ verified: true, exitCode: 0 });
  });

  it("may be PEM or a JWK without an id, which count for whatever id the card names", async () => {
    await runCommand(["keys", "new", "--pem", "--out", "pem.pem"], { cwd });
    const { kid: _, ...unnamed } = JSON.parse(await readFile(join(cwd, "pem.public.json"), "utf8"));
    const key = await crypto.subtle.importKey("jwk", unnamed, { name: "ECDSA", namedCurve: "P-256" }, true, [
      "verify",
    ]);
    const der = Buffer.from(await crypto.subtle.exportKey("spki", key)).toString("base64");
    await writeFile(join(cwd, "pub.pem"), `-----BEGIN PUBLIC KEY-----\n${der}\n-----END PUBLIC KEY-----\n`);
    const pemSigner = { privateKey: join(cwd, "pem.pem"), publicKey: "", kid: "" };
    const text = await signedCard(cwd, pemSigner, {}, "--kid", "whatever");
    for (const given of ["pub.pem", JSON.stringify(unnamed)]) {
      expect(await verdictOf(text, "--key", given)).toMatchObject({ verified: true, kid: "whatever" });
    }
    expect(await verdictOf(card, "--key", "pub.pem")).toMatchObject({ reason: "signature-mismatch" });
  });

  it("may not be a certificate: a hint says how to get its key", async () => {
    const { stderr, exitCode } = await verify(card, "--key", createSelfSignedCertificate().cert);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /is a certificate, not a key.*\nhint: .*openssl x509 -in cert\.pem -pubkey -noout/,
    );
  });

  it("may be a key set", async () => {
    const { stdout } = await runCommand(["keys", "public", signer.publicKey]);
    await writeFile(join(cwd, "set.json"), stdout);
    expect(await verdictOf(card, "--key", "set.json")).toMatchObject({ verified: true });
  });

  it("may have to be several", async () => {
    const two = [...byKey(), "--key", stranger.publicKey, "--min-signers", "2"];
    expect(await verdictOf(card, ...two)).toMatchObject({ reason: "too-few-signers", exitCode: 1 });
    const { stdout } = await runCommand(["card", "sign", "-", "--key", stranger.privateKey], {
      cwd,
      stdin: card,
    });
    expect(await verdictOf(stdout, ...two)).toMatchObject({ verified: true });
  });

  it("of the card's own origin are not counted: whoever runs it can make as many as are asked for", async () => {
    host.serve(await signedCard(cwd, signer, {}, "--jku", `${host.url}/jwks.json`));
    const words = ["card", "verify", host.url, "--min-signers", "2"];
    const { stdout, stderr, exitCode } = await runCommand(words, { cwd });
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toMatch(/--min-signers.*any number of keys.*A2ACLI_ERR_USAGE[\s\S]*--jwks-host/);
    const { host: authority } = new URL(host.url);
    for (const flags of [byKey(), ["--card-key", signer.publicKey], ["--jwks-host", authority]]) {
      const counted = await runCommand([...words, ...flags], { cwd });
      expect([counted.exitCode, field(counted.stdout, "Reason")]).toEqual([1, "too-few-signers"]);
    }
    const one = await runCommand(["card", "verify", host.url, "--min-signers", "1"], { cwd });
    expect(one.exitCode).toBe(0);
  });

  for (const [what, flags] of [
    ["a key that is not there", ["--key", "nowhere.json"]],
    ["what is no key", ["--key", '{"hunter2":true}']],
    ["a private key on the command line", ["--card-key", '{"kty":"OKP","d":"hunter2"}']],
    ["a host that is none", ["--jwks-host", "https://x/y"]],
    ["a profile that nobody knows", ["--profile", "js"]],
    ["no signers", ["--min-signers", "0"]],
  ] as const) {
    it(`is a usage error: ${what}`, async () => {
      const { stdout, stderr, exitCode } = await verify(card, ...flags);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).not.toContain("hunter2");
    });
  }
});

describe("the key set that a signature names", () => {
  const withJku = (jku: string) => signedCard(cwd, signer, {}, "--jku", jku);

  it("is asked on the card's own origin, and what that proves is said", async () => {
    host.serve(await withJku(`${host.url}/jwks.json`));
    const { stdout, stderr, exitCode } = await runCommand(["card", "verify", host.url], { cwd });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(field(stdout, "From")).toBe(`${host.url}${cardPath}`);
    expect(field(stdout, "Key")).toContain(`from ${host.url}/jwks.json`);
    expect(field(stdout, "Trust")).toContain(`proves only that the operator of ${host.url} signed the card`);
    const json = await runCommand(["card", "verify", host.url, "-o", "json"], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({
      verified: true,
      trust: "own-origin",
      source: `${host.url}${cardPath}`,
      signatures: [{ jku: `${host.url}/jwks.json` }],
    });
    expect(json.stderr).toContain("so this proves only that");
  });

  it("is asked nowhere else, unless its host is named", async () => {
    await using other = await startCardHost(signer);
    host.serve(await withJku(`${other.url}/jwks.json`));
    const refused = await runCommand(["card", "verify", host.url, "-o", "json"], { cwd });
    expect([JSON.parse(refused.stdout).reason, refused.exitCode]).toEqual(["jku-not-allowed", 1]);
    const named = await runCommand(["card", "verify", host.url, "--jwks-host", new URL(other.url).host], {
      cwd,
    });
    expect([named.exitCode, field(named.stdout, "Trust")]).toEqual([
      0,
      expect.stringContaining("which you trust to say who signs (--jwks-host)"),
    ]);
  });

  it("is not asked when a key was given", async () => {
    host.serve(await withJku(`${host.url}/jwks.json`));
    const { stdout, exitCode } = await runCommand(["card", "verify", host.url, "--key", stranger.publicKey], {
      cwd,
    });
    expect([field(stdout, "Verdict"), exitCode]).toEqual(["NOT VERIFIED", 1]);
  });

  it("is not asked for a file, which has no origin", async () => {
    const { reason } = await verdictOf(await withJku(`${host.url}/jwks.json`));
    expect(reason).toBe("jku-not-allowed");
  });
});

describe("whose word the verdict is", () => {
  /** Another signature, by a key of a key set that is asked for. */
  const signedToo = async (text: string, { url }: CardHost) => {
    const words = ["card", "sign", "-", "--key", stranger.privateKey, "--jku", `${url}/jwks.json`];
    return (await runCommand(words, { cwd, stdin: text })).stdout;
  };

  it("is that of the signature which counts, not of another that is right and does not", async () => {
    await using keys = await startCardHost(stranger);
    const { host: authority } = new URL(keys.url);
    const text = await signedToo(await legacyCard({}), keys); // without security, which js-1 may have lost
    const flags = [...byKey(), "--jwks-host", authority, "--profile", "js-1"];
    const verdict = await verdictOf(text, ...flags);
    expect(verdict).toMatchObject({ verified: true, kid: "stranger", trust: "named-host" });
    expect(verdict.signatures).toMatchObject([
      { valid: true, profile: "js-1", keySource: "trusted" },
      { valid: true, profile: "strict" },
    ]);
    expect((await verify(text, ...flags, "-o", "json")).stderr).toContain(`${authority}, which you trust`);
    expect(field((await verify(text, ...flags)).stdout, "Trust")).toContain(`${authority}, which you trust`);
    const alone = await verdictOf(text, ...byKey(), "--profile", "js-1", "--allow-uncovered");
    expect(alone).toMatchObject({ verified: true, kid: "signer", trust: "given-key" });
  });

  it("is told apart by more than the id: that of the first one, of two keys that have the same", async () => {
    const directory = await mkdtemp(join(cwd, "twin-"));
    const twin = await createSigner(directory, signer.kid);
    await using keys = await startCardHost(twin);
    const own = await signedCard(cwd, signer);
    const theirs = await signedCard(cwd, twin, {}, "--jku", `${keys.url}/jwks.json`);
    const [one, other] = [own, theirs].map((text) => JSON.parse(text).signatures[0]);
    const flags = [...byKey(), "--jwks-host", new URL(keys.url).host];
    for (const [signatures, trust] of [
      [[one, other], "given-key"],
      [[other, one], "named-host"],
    ] as const) {
      const verdict = await verdictOf(tampered(own, { signatures }), ...flags);
      expect(verdict).toMatchObject({
        verified: true,
        signatures: [{ valid: true }, { valid: true }],
        trust,
      });
    }
  });

  it("is the weakest of those that count where several have to sign", async () => {
    await using keys = await startCardHost(stranger);
    const text = await signedToo(card, keys);
    const flags = [...byKey(), "--jwks-host", new URL(keys.url).host];
    expect(await verdictOf(text, ...flags)).toMatchObject({ kid: "signer", trust: "given-key" });
    expect(await verdictOf(text, ...flags, "--min-signers", "2")).toMatchObject({
      verified: true,
      trust: "named-host",
    });
  });
});

describe("policies", () => {
  it("--memory remembers who signed, and refuses others", async () => {
    const memory = ["--memory", "cards-memory.json"];
    host.serve(card);
    const keys = ["--key", signer.publicKey, "--key", stranger.publicKey];
    const verifyHost = () => runCommand(["card", "verify", host.url, ...keys, ...memory], { cwd });
    const first = await verifyHost();
    expect([first.exitCode, field(first.stdout, "Note")]).toEqual([0, expect.stringMatching(/^first-use: /)]);
    expect(fieldsOf(first.stdout).has("Alarm")).toBe(false);
    expect((await verifyHost()).exitCode).toBe(0);
    host.serve(await signedCard(cwd, stranger));
    const changed = await verifyHost();
    expect([changed.exitCode, field(changed.stdout, "Reason")]).toEqual([1, "pin-changed"]);
  });

  it("--require-security refuses a card that lets everybody in", async () => {
    expect(await verdictOf(card, ...byKey(), "--require-security")).toMatchObject({
      reason: "security-too-weak",
      exitCode: 1,
    });
  });
});

describe("where there is nothing to verify", () => {
  it("exits with 3", async () => {
    expect((await runCommand(["card", "verify", "./nowhere.json"], { cwd })).exitCode).toBe(3);
    expect((await runCommand(["card", "verify", "no-such-host.invalid"], { cwd })).exitCode).toBe(3);
    await using empty = await startSick(at({}));
    expect((await runCommand(["card", "verify", empty.url], { cwd })).exitCode).toBe(3);
  });

  it("has a verdict for a card that no client would use", async () => {
    await using server = await startSick(
      at({ [cardPath]: send(tampered(card, { supportedInterfaces: undefined })) }),
    );
    const { stdout, exitCode } = await runCommand(["card", "verify", server.url, ...byKey()], { cwd });
    expect([field(stdout, "Verdict"), exitCode]).toEqual(["NOT VERIFIED", 1]);
  });
});

/** Security that older software signs: without any, it might have been taken out. */
const login = {
  securitySchemes: { login: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://login.example" } } },
  securityRequirements: [{ schemes: { login: { list: ["read"] } } }],
};

/** Signed as the JavaScript SDK does: whatever is empty is left out. */
async function legacyCard(security: object = login): Promise<string> {
  const { signatures: _, ...unsigned } = JSON.parse(card);
  const { capabilities: __, ...json } = { ...unsigned, ...security }; // an empty message, which it does not sign
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .toSorted(([a], [b]) => (a < b ? -1 : 1))
              .map(([name, member]) => [name, sorted(member)]),
          )
        : value;
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  const header = encode(JSON.stringify({ alg: "ES256", kid: signer.kid, typ: "JOSE" }));
  const jwk = JSON.parse(await readFile(signer.privateKey, "utf8"));
  const key = await crypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, [
    "sign",
  ]);
  const input = Buffer.from(`${header}.${encode(JSON.stringify(sorted(json)))}`);
  const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, input);
  return JSON.stringify({
    ...json,
    capabilities: {},
    signatures: [{ protected: header, signature: Buffer.from(signature).toString("base64url") }],
  });
}
