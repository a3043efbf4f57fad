import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundleProgram } from "../../test-support/bundled-program.ts";
import { field, fieldsOf } from "../../test-support/fields.ts";
import { runCommand } from "../../test-support/run-command.ts";
import { at as answerAt, startSick } from "../../test-support/sick-server.ts";
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
let host: CardHost;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-verdicts-"));
  signer = await createSigner(cwd, "signer");
  host = await startCardHost(signer);
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await rm(cwd, { recursive: true });
});

const verify = (reference: string, ...flags: readonly string[]) =>
  runCommand(["card", "verify", reference, ...flags], { cwd });
const at404 = answerAt({});
const at = (url: string) => [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];

/** A published vector as the files of a card and its keys. */
async function vector(name: string): Promise<readonly [card: string, ...flags: string[]]> {
  const url = new URL(`../../../../test/vectors/agent-card/${name}.json`, import.meta.url);
  const { card, cardText = JSON.stringify(card), keys } = JSON.parse(await readFile(url, "utf8"));
  await writeFile(join(cwd, `${name}.json`), cardText);
  await writeFile(join(cwd, `${name}.keys.json`), JSON.stringify(keys));
  return [`${name}.json`, "--key", `${name}.keys.json`];
}

describe("the verdict on a card under attack", () => {
  it("never advises how to let it through", async () => {
    for (const name of ["attack-replaced-token-url"]) {
      const words = await vector(name);
      const strict = await verify(...words);
      expect(strict.exitCode).toBe(1);
      expect(field(strict.stdout, "Reason")).toBe("signature-mismatch");
      expect(field(strict.stdout, "Because")).toMatch(/only by the profile js-1, .*Do not use this card/);
      expect(field(strict.stdout, "Next")).not.toContain("--");
      const legacy = await verify(...words, "--profile", "js-1");
      expect([legacy.exitCode, field(legacy.stdout, "Reason")]).toEqual([1, "uncovered"]);
      expect(legacy.stdout).not.toContain("--allow-uncovered");
    }
  });

  it("is VERIFIED, WITH GAPS where those were allowed, and lists them first", async () => {
    const words = await vector("attack-replaced-token-url");
    const flags = [...words.slice(1), "--profile", "js-1", "--allow-uncovered"];
    const { stdout, exitCode } = await verify(words[0], ...flags);
    expect([exitCode, field(stdout, "Verdict")]).toEqual([0, "VERIFIED, WITH GAPS"]);
    expect(stdout).toMatch(/^Verdict: .*\nUncovered: securitySchemes/m);
    const json = await verify(words[0], ...flags, "-o", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({ verified: true });
  });

  it("says that --allow-uncovered alone does nothing", async () => {
    await writeFile(join(cwd, "plain.json"), await signedCard(cwd, signer));
    const { stderr } = await verify("plain.json", "--key", signer.publicKey, "--allow-uncovered");
    expect(stderr).toMatch(/^warning: --allow-uncovered does nothing without --profile/);
  });
});

describe("keys that cannot verify", () => {
  for (const name of ["key-algorithm", "key-for-encryption", "key-operations", "key-too-weak"]) {
    it(`give a verdict: ${name}`, async () => {
      const { stdout, exitCode } = await verify(...(await vector(name)), "-o", "json");
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ verified: false, reason: "key-mismatch" });
    });
  }

  it("are wrong use where they are to guard calls", async () => {
    const [, , keys = ""] = await vector("key-too-weak");
    host.serve(await signedCard(cwd, signer));
    expect((await runCommand(["card", "get", host.url, "--key", keys], { cwd })).exitCode).toBe(2);
  });

  it("are warned of when they are private", async () => {
    await writeFile(join(cwd, "plain.json"), await signedCard(cwd, signer));
    const { stderr, exitCode } = await verify("plain.json", "--key", signer.privateKey);
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(/^warning: .*signer\.json holds a private key/),
    ]);
  });
});

describe("a card that is not a regular file", () => {
  it("is read where a shell has made it", async () => {
    const main = await bundleProgram(new URL("../main.ts", import.meta.url));
    await writeFile(join(cwd, "plain.json"), await signedCard(cwd, signer));
    const command = `"${process.execPath}" "${main}" card verify <(cat plain.json) --key <(cat signer.public.json)`;
    const { stdout } = await promisify(execFile)("bash", ["-c", command], { cwd });
    expect(field(stdout, "Verdict")).toBe("VERIFIED");
  });

  it("is read up to the size that a card may have", async () => {
    const { stderr, exitCode } = await verify("/dev/zero", "--key", signer.publicKey);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("1048576 bytes")]);
  });
});

describe("--memory", () => {
  let known: readonly string[];

  beforeEach(async () => {
    await rm(join(cwd, "m.json"), { force: true });
    host.serve(await signedCard(cwd, signer, { supportedInterfaces: at("https://a.example/rpc") }));
    known = [host.url, "--key", signer.publicKey, "--memory", "m.json"];
    const [reference = "", ...flags] = known;
    const first = await verify(reference, ...flags);
    expect([first.exitCode, field(first.stdout, "Memory")]).toEqual([
      0,
      `m.json: ${host.url} is known from now on`,
    ]);
  });

  const again = (...more: readonly string[]) => {
    const [reference = "", ...flags] = known;
    return verify(reference, ...flags, ...more);
  };

  it("compares a weaker card with the one that is remembered", async () => {
    host.serve(await signedCard(cwd, signer, { supportedInterfaces: at("http://b.example/rpc") }));
    const { stdout, exitCode } = await again();
    expect([exitCode, field(stdout, "Reason")]).toEqual([1, "downgrade"]);
    expect(field(stdout, "Changed")).toBe(
      'supportedInterfaces[0].url: was "https://a.example/rpc", is "http://b.example/rpc"',
    );
    expect(field(stdout, "Memory")).toMatch(
      /is known since \d{4}-.*, last seen .*, by the key with thumbprint [\w-]{43}/,
    );
    expect(field(stdout, "Card")).not.toContain("not verified");
    expect(field(stdout, "Next")).toContain(`a2a card forget ${host.url} --memory m.json`);
    expect(stdout.split("\n").length).toBeLessThanOrEqual(26);
    const json = JSON.parse((await again("-o", "json")).stdout);
    expect(json).toMatchObject({
      remembered: { thumbprints: [expect.any(String)] },
      changes: [
        { path: "supportedInterfaces[0].url", was: "https://a.example/rpc", is: "http://b.example/rpc" },
      ],
    });
  });

  it("shows no more than ten changes, and nothing that a terminal would act upon", async () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      at(`https://${index}.example/\u001b[2J\u009b`),
    ).flat();
    host.serve(tampered(await signedCard(cwd, signer), { supportedInterfaces: many }));
    const { stdout, exitCode } = await again();
    expect(exitCode).toBe(1);
    expect(fieldsOf(stdout).get("Changed")).toHaveLength(11);
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_C}]/u);
  });

  it("is alarmed when a card that was signed is not any more", async () => {
    host.serve(tampered(await signedCard(cwd, signer), { signatures: [] }));
    const { stdout, exitCode } = await again();
    expect([exitCode, field(stdout, "Reason")]).toEqual([1, "no-signature"]);
    expect(field(stdout, "Alarm")).toMatch(
      /^unsigned: Earlier cards of .* were signed by the key with thumbprint [\w-]{43}/,
    );
  });

  it("forgets an agent when it is told to, and says what it knew", async () => {
    const forget = (url: string) => runCommand(["card", "forget", url, "--memory", "m.json"], { cwd });
    const { stdout, exitCode } = await forget(host.url);
    expect([exitCode, field(stdout, "Forgotten")]).toEqual([0, host.url]);
    expect(field((await again()).stdout, "Note")).toMatch(/^first-use: /);
    const unknown = await forget("https://other.example");
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      2,
      expect.stringContaining("m.json has no record of https://other.example"),
    ]);
  });

  it("says that nothing was remembered of a file, and why", async () => {
    await writeFile(join(cwd, "plain.json"), await signedCard(cwd, signer));
    const { stdout, exitCode } = await verify(
      "plain.json",
      "--key",
      signer.publicKey,
      "--memory",
      "none.json",
    );
    expect(exitCode).toBe(0);
    expect(field(stdout, "Memory")).toContain(
      "nothing was remembered, because the card did not come from a URL",
    );
    await expect(stat(join(cwd, "none.json"))).rejects.toThrow("ENOENT");
  });

  it("takes an empty file for a new one", async () => {
    await writeFile(join(cwd, "m.json"), "");
    expect(field((await again()).stdout, "Note")).toMatch(/^first-use: /);
  });

  for (const [what, file, problem, hint] of [
    [
      "a damaged file",
      "damaged.json",
      "damaged.json is damaged",
      "the next card of every agent counts as its first",
    ],
    ["a directory", ".", ". is a directory", "a file that nothing else uses"],
    ["a device", "/dev/zero", "/dev/zero is not a regular file", "a file that nothing else uses"],
    [
      "a directory that is not there",
      "none/x.json",
      "there is no directory none",
      "a file that nothing else uses",
    ],
  ] as const) {
    it(`is wrong use of ${what}`, async () => {
      await writeFile(join(cwd, "damaged.json"), "garbage");
      const { stdout, stderr, exitCode } = await verify(host.url, "--memory", file);
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toContain(`error: --memory: ${problem} [A2ACLI_ERR_USAGE]`);
      expect(stderr).toMatch(new RegExp(`^hint: .*${hint}`, "m"));
    });
  }
});

describe("a key set that cannot be had", () => {
  it("is refused with what TLS has against it, whatever --insecure says", async () => {
    const { key, cert } = await createSelfSignedCertificate();
    const server = createServer({ key, cert }, (_, response) => response.end("{}"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    const text = await signedCard(cwd, signer, {}, "--jku", `https://localhost:${port}/jwks.json`);
    await writeFile(join(cwd, "far.json"), text);
    const { stdout, stderr } = await verify("far.json", "--jwks-host", `localhost:${port}`, "--insecure");
    server.close();
    expect(field(stdout, "Because")).toContain("The certificate is self-signed");
    expect(field(stdout, "Next")).toContain("NODE_EXTRA_CA_CERTS");
    expect(stderr).toContain("--insecure applies only to fetching the card");
  });
});

describe("what a card says of itself", () => {
  it("stands in quotes, so that it is never taken for ours", async () => {
    const text = tampered(await signedCard(cwd, signer), { name: 'Bad"\nVerdict: VERIFIED' });
    await writeFile(join(cwd, "bad.json"), text);
    const { stdout } = await verify("bad.json", "--key", signer.publicKey);
    expect(stdout).toMatch(/^Card: "Bad\\" Verdict: VERIFIED", version "1\.0\.0" \(not verified\)/);
    expect(fieldsOf(stdout).get("Verdict")).toEqual(["NOT VERIFIED"]);
  });

  it("reaches programs as it stands there", async () => {
    const kid = "a\u001b[31mb\u202e";
    const header = Buffer.from(JSON.stringify({ alg: "ES256", kid, typ: "JOSE" })).toString("base64url");
    const signatures = [{ protected: header, signature: "AAAA" }];
    await writeFile(join(cwd, "odd.json"), tampered(await signedCard(cwd, signer), { signatures }));
    const { stdout } = await verify("odd.json", "--key", signer.publicKey, "-o", "json");
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_C}]/u);
    expect(JSON.parse(stdout).signatures[0].kid).toBe(kid);
  });

  it("comes behind the verdict where card get shows a card that is not verified", async () => {
    await writeFile(join(cwd, "bad.json"), tampered(await signedCard(cwd, signer), { name: "Evil" }));
    const { stdout } = await runCommand(["card", "get", "bad.json", "--key", signer.publicKey], { cwd });
    expect(stdout).toMatch(/^Signature: 1, NOT VERIFIED \(signature-mismatch\)/);
    expect(stdout.match(/^Signature: /gm)).toHaveLength(1);
  });
});

describe("where there is no card", () => {
  it("names the list of a server that has several agents", async () => {
    await using server = await startSick(at404);
    const { stderr, exitCode } = await verify(server.url);
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringContaining(`lists them in ${server.url}/.well-known/ai-catalog.json`),
    ]);
  });
});

describe("config show", () => {
  it("names the profiles of an agent, and where that is said", async () => {
    const config = `agents:\n  old:\n    url: ${host.url}\n    key: signer.public.json\n    profiles: [js-1]\n`;
    await writeFile(join(cwd, "a2a.config.yaml"), config);
    const { stdout } = await runCommand(["config", "show", "-a", "old"], { cwd });
    expect(stdout).toMatch(/^profiles: js-1 \(file .*a2a\.config\.yaml:5\)$/m);
    await rm(join(cwd, "a2a.config.yaml"));
  });
});

describe("help", () => {
  for (const command of ["verify", "canonical"]) {
    it(`of card ${command} shows no options that make no sense there, which are taken all the same`, async () => {
      const { stdout } = await runCommand(["card", command, "--help"], { cwd });
      expect(stdout).not.toMatch(/--(?:wait|async|task-id|metadata|transport|bearer|api-key|stream)\b/);
      expect(stdout).toMatch(/--insecure[\s\S]*--output/);
      const { stderr } = await runCommand(["card", command, "./none.json", "--task-id", "x"], { cwd });
      expect(stderr).toContain("CARD_NOT_FOUND");
    });
  }
});
