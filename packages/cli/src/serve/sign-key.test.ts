import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { thumbprintOf } from "@a2a-connect/signing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { field } from "../../test-support/fields.ts";
import { runCommand, startCommand } from "../../test-support/run-command.ts";
import { createSigner, type Signer } from "../../test-support/signer.ts";

let cwd: string;
let old: Signer;
let current: Signer;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-sign-key-"));
  old = await createSigner(cwd, "old");
  current = await createSigner(cwd, "current", "--alg", "EdDSA");
  const server = JSON.stringify(import.meta.resolve("@a2a-connect/server"));
  await writeFile(
    join(cwd, "agent.ts"),
    `import { defineAgent } from ${server};
     export default defineAgent({
       card: { name: "Parrot", description: "Says one thing." },
       *execute(turn) { yield turn.reply("hello"); },
     });`,
  );
});

afterAll(async () => {
  await rm(cwd, { recursive: true });
});

const verdictOf = async (url: string, ...flags: readonly string[]) => {
  const { stdout, exitCode } = await runCommand(["card", "verify", url, ...flags], { cwd });
  return [field(stdout, "Verdict"), exitCode];
};

describe("a2a serve --sign-key", () => {
  it("signs the card with each key, and publishes their public sides", async () => {
    const flags = ["--sign-key", old.privateKey, "--sign-key", current.privateKey];
    const server = startCommand(["serve", "agent.ts", "--port", "0", "--store", "memory", ...flags], { cwd });
    const [, url = ""] = await server.waitFor(/Agent Card: (http:\S+)\/\.well-known\/agent-card\.json/);
    try {
      const both = ["--key", old.publicKey, "--key", current.publicKey, "--min-signers", "2"];
      expect(await verdictOf(url, ...both)).toEqual(["VERIFIED", 0]);
      expect(await verdictOf(url)).toEqual(["VERIFIED", 0]); // by the key set that the signatures name
      const jwks = await (await fetch(`${url}/.well-known/jwks.json`)).text();
      expect(JSON.parse(jwks)).toMatchObject({ keys: [{ kid: "old" }, { kid: "current" }] });
      expect(jwks).not.toContain('"d"');
      const sent = await runCommand(["send", "hi", "-a", url, "--card-key", current.publicKey], { cwd });
      expect([field(sent.stdout, "From"), sent.exitCode]).toEqual(["agent", 0]);
    } finally {
      server.interrupt();
      await server.result;
    }
  });

  const serving = (...flags: readonly string[]) =>
    startCommand(["serve", "agent.ts", "--port", "0", "--store", "memory", ...flags], { cwd });
  const origin = "https://agents.example.org";

  it("says at the start where the key set is, and which keys sign", async () => {
    const server = serving("--sign-key", old.privateKey);
    await server.waitFor(/Ctrl-C/);
    server.interrupt();
    const { stdout } = await server.result;
    const { stdout: key } = await runCommand(["keys", "public", old.publicKey], { cwd });
    const thumbprint = await thumbprintOf(JSON.parse(key).keys[0]);
    expect(field(stdout, "Key Set")).toBe(
      (field(stdout, "Agent Card") ?? "").replace("agent-card.json", "jwks.json"),
    );
    expect(field(stdout, "Signing Key")).toBe(`old, ES256, thumbprint ${thumbprint}`);
  });

  it("warns of what is empty in the card, which the verifiers of Python leave out, with its path", async () => {
    const agent = await readFile(join(cwd, "agent.ts"), "utf8");
    const skill = '{ id: "s", name: "S", description: "Says it.", tags: [] }';
    await writeFile(join(cwd, "empty.ts"), agent.replace('thing." }', `thing.", skills: [${skill}] }`));
    const flags = ["--port", "0", "--store", "memory", "--sign-key", old.privateKey];
    const server = startCommand(["serve", "empty.ts", ...flags], { cwd });
    await server.waitFor(/Ctrl-C/);
    server.interrupt();
    expect((await server.result).stderr).toMatch(
      /^warning: .*a2a-sdk of Python.* ignore these fields, or parts of them: .*skills\[0\]\.tags.*; give the empty fields a value/m,
    );
  });

  it("warns when the card is for the network and says that it is on this machine", async () => {
    const flags = ["--host", "0.0.0.0", "--open", "--sign-key", old.privateKey];
    const server = serving(...flags);
    await server.waitFor(/Ctrl-C/);
    server.interrupt();
    expect((await server.result).stderr).toMatch(/^warning: .*localhost.*--public-url/m);
    const reachable = serving(...flags, "--public-url", `${origin}/`);
    const [, port = ""] = await reachable.waitFor(/Agent Card: http:\/\/[^:]+:(\d+)\/[\s\S]*Ctrl-C/);
    const card = await (await fetch(`http://localhost:${port}/.well-known/agent-card.json`)).json();
    reachable.interrupt();
    const { stdout, stderr } = await reachable.result;
    expect(stderr).not.toMatch(/^warning: .*--public-url/m);
    expect(field(stdout, "Key Set")).toBe(`${origin}/.well-known/jwks.json`);
    expect(card.supportedInterfaces[0].url).toMatch(/^https:\/\/agents\.example\.org/);
    expect(JSON.parse(Buffer.from(card.signatures[0].protected, "base64url").toString()).jku).toBe(
      `${origin}/.well-known/jwks.json`,
    );
  });

  it("keeps a retired key in the key set until its date, and signs no more with it", async () => {
    const retired = `${old.publicKey}@2999-01-31`;
    const server = serving("--sign-key", current.privateKey, "--retired-key", retired);
    const [, url = ""] = await server.waitFor(/Agent Card: (http:\S+)\/\.well-known[\s\S]*Ctrl-C/);
    const { keys } = await (await fetch(`${url}/.well-known/jwks.json`)).json();
    const { signatures } = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
    server.interrupt();
    const { stdout } = await server.result;
    expect(keys).toMatchObject([{ kid: "current" }, { kid: "old", exp: Date.UTC(2999, 0, 31) / 1_000 }]);
    expect(signatures).toHaveLength(1);
    expect(field(stdout, "Retired Key")).toMatch(/^old, until 2999-01-31T00:00:00.000Z, thumbprint /);
  });

  for (const [what, flags, sentence] of [
    ["a public URL that is none", ["--public-url", "agents.example.org"], /--public-url/],
    ["a public URL with a query", ["--public-url", "https://a.example/?x=1"], /--public-url/],
    [
      "a retired key without a date",
      ["--sign-key", "current.json", "--retired-key", "old.json"],
      /--retired-key/,
    ],
    [
      "a retired key with a date that is none",
      ["--sign-key", "current.json", "--retired-key", "old.json@soon"],
      /--retired-key/,
    ],
    [
      "a retired key whose date is past",
      ["--sign-key", "current.json", "--retired-key", "old.json@2020-01-01"],
      /is past/,
    ],
    ["a retired key without one that signs", ["--retired-key", "old.json@2999-01-01"], /--sign-key/],
    ["a key twice", ["--sign-key", "old.json", "--sign-key", "old.json"], /two keys have the id "old"/],
    [
      "a key that signs and is retired",
      ["--sign-key", "old.json", "--retired-key", "old.public.json@2999-01-01"],
      /two keys have the id "old"/,
    ],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { stdout, stderr, exitCode } = await serving(...flags).result;
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toMatch(sentence);
    });
  }

  it("refuses a file that cannot sign, by its name, before it serves", async () => {
    const words = ["serve", "agent.ts", "--port", "0", "--sign-key"];
    for (const file of [old.publicKey, "nowhere.json", "agent.ts"]) {
      const { stdout, stderr, exitCode } = await runCommand([...words, file], { cwd });
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toContain(file);
    }
  });
});
