import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { field } from "../../test-support/fields.ts";
import { type RecordingAgent, startRecordingAgent } from "../../test-support/recording-agent.ts";
import { type CommandSurroundings, runCommand } from "../../test-support/run-command.ts";
import { createSigner, type Signer, signedCard, tampered } from "../../test-support/signer.ts";

let cwd: string;
let signer: Signer;
let stranger: Signer;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-trust-"));
  signer = await createSigner(cwd, "signer");
  stranger = await createSigner(cwd, "stranger");
});

afterAll(async () => {
  await rm(cwd, { recursive: true });
});

/** An agent whose card is signed by `by`, and changed afterwards by `change`. */
async function startSigned(
  by: Signer,
  change: object = {},
): Promise<RecordingAgent & { readonly text: string }> {
  const target = await startRecordingAgent();
  const rpc = [{ url: `${target.url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
  const text = tampered(await signedCard(cwd, by, { supportedInterfaces: rpc, ...extended }), change);
  const front = await startRecordingAgent(JSON.parse(text));
  return {
    text,
    url: front.url,
    requests: front.requests,
    get calls() {
      return target.calls;
    },
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await target[Symbol.asyncDispose]();
    },
  };
}

const extended = { capabilities: { extendedAgentCard: true } };

const a2a = (words: readonly string[], surroundings: CommandSurroundings = {}) =>
  runCommand(words, { cwd, ...surroundings });

describe("an agent whose key is known", () => {
  it("is called when its card is signed by it", async () => {
    await using agent = await startSigned(signer);
    const { stdout, stderr, exitCode } = await a2a([
      "send",
      "hi",
      "-a",
      agent.url,
      "--card-key",
      signer.publicKey,
    ]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(field(stdout, "From")).toBe("agent");
    expect(agent.calls).toHaveLength(1);
  });

  for (const [what, by, change, reason] of [
    ["is signed by somebody else", () => stranger, {}, "key-unknown"],
    ["was changed", () => signer, { name: "Evil" }, "signature-mismatch"],
    ["is not signed", () => signer, { signatures: [] }, "no-signature"],
  ] as const) {
    it(`is sent nothing when its card ${what}`, async () => {
      await using agent = await startSigned(by(), change);
      for (const words of [
        ["send", "hi"],
        ["task", "get", "t"],
        ["task", "list"],
        ["card", "get", "--extended"],
      ]) {
        const { stdout, exitCode } = await a2a([
          ...words,
          "-a",
          agent.url,
          "--card-key",
          signer.publicKey,
          "--bearer",
          "s3cret",
          "-o",
          "json",
        ]);
        expect(JSON.parse(stdout)).toEqual({
          error: {
            code: "A2ACLI_ERR_CARD_INVALID",
            message: expect.stringContaining(`(${reason})`),
            hint: expect.stringContaining("a2a card verify"),
            a2aCode: null,
          },
        });
        expect(exitCode).toBe(1);
      }
      expect(agent.calls).toEqual([]);
      expect(agent.requests.map(({ headers }) => headers["authorization"])).toEqual(
        agent.requests.map(() => undefined),
      );
    });
  }

  it("is known by a flag, by the environment, or by a found a2a.config.yaml, in this order", async () => {
    await using agent = await startSigned(signer);
    const config = (key: string) => `agents:\n  it:\n    url: ${agent.url}\n    key: ${key}\n`;
    const send = async (flags: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      (await a2a(["send", "hi", "-a", "it", ...flags], { env })).exitCode;
    await writeFile(join(cwd, "a2a.config.yaml"), config("signer.public.json"));
    expect(await send([])).toBe(0);
    expect(await send([], { A2ACLI_CARD_KEY: stranger.publicKey })).toBe(1); // a found file does not replace it
    expect(await send(["--card-key", stranger.publicKey])).toBe(1);
    await writeFile(join(cwd, "a2a.config.yaml"), config("stranger.public.json"));
    expect(await send([])).toBe(1);
    expect(await send(["--card-key", signer.publicKey])).toBe(0);
    const env = { A2ACLI_CARD_KEY: stranger.publicKey };
    expect((await a2a(["send", "hi", "-a", agent.url], { env })).exitCode).toBe(1);
    const shown = await a2a(["config", "show", "-a", "it"]);
    expect(shown.stdout).toMatch(/^card-key: .*stranger\.public\.json \(file .*a2a\.config\.yaml:4\)$/m);
  });

  it("is verified by the text of a card that is read from a file, with what nobody knows of", async () => {
    const file = join(cwd, "local.json");
    await using agent = await startRecordingAgent();
    const rpc = [{ url: `${agent.url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
    await writeFile(file, await signedCard(cwd, signer, { supportedInterfaces: rpc, newMember: { a: 1 } }));
    const send = (key: string) => a2a(["send", "hi", "-a", file, "--card-key", key]);
    expect((await send(signer.publicKey)).exitCode).toBe(0);
    expect((await send(stranger.publicKey)).exitCode).toBe(1);
    expect(agent.calls).toHaveLength(1);
  });

  it("is refused before anything is fetched when the key is none", async () => {
    await using agent = await startSigned(signer);
    const { stderr, exitCode } = await a2a(["send", "hi", "-a", agent.url, "--card-key", "nowhere.json"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("nowhere.json cannot be read")]);
    expect(agent.requests).toEqual([]);
  });
});

describe("a2a card get", () => {
  for (const [what, change, flags, shown, code] of [
    ["verified", {}, ["--key"], /^1, verified: key signer, ES256, strict$/, 0],
    ["verified by the key of all commands", {}, ["--card-key"], /^1, verified: /, 0],
    ["not verified", { name: "Evil" }, ["--key"], /^1, NOT VERIFIED \(signature-mismatch\): /, 1],
    ["absent, which a key makes a matter", { signatures: [] }, ["--key"], /^absent$/, 1],
  ] as const) {
    it(`says that signatures are ${what}`, async () => {
      await using agent = await startSigned(signer, change);
      const words = ["card", "get", agent.url, ...flags, signer.publicKey];
      const { stdout, stderr, exitCode } = await a2a(words);
      expect([field(stdout, "Signature"), exitCode]).toEqual([expect.stringMatching(shown), code]);
      expect(stderr).toMatch(code === 0 ? /^$/ : /^warning: the card is not verified\. /);
      const json = await a2a([...words, "-o", "json"]);
      expect([JSON.parse(json.stdout), json.exitCode]).toEqual([JSON.parse(agent.text), code]);
    });
  }

  it("says nothing of an extended card that is not signed by the key", async () => {
    await using agent = await startSigned(signer);
    const { stdout, stderr, exitCode } = await a2a([
      "card",
      "get",
      "--extended",
      agent.url,
      "--key",
      signer.publicKey,
    ]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 1 });
    expect(stderr).toContain("(no-signature)");
  });
});
