import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../test-support/run-command.ts";
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
let card: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-doctor-"));
  signer = await createSigner(cwd, "signer");
  stranger = await createSigner(cwd, "stranger");
  host = await startCardHost(signer);
  card = await signedCard(cwd, signer);
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await rm(cwd, { recursive: true });
});

/** What the doctor says about the signatures of a card. */
async function finding(text: string, ...flags: readonly string[]): Promise<unknown> {
  host.serve(text);
  const { stdout } = await runCommand(["doctor", host.url, ...flags, "-o", "json"], { cwd });
  return JSON.parse(stdout).findings.find(({ id }: { id: string }) => /sign|unverified/.test(id));
}

describe("a2a doctor, about signatures", () => {
  it("verifies them where a key is known", async () => {
    expect(await finding(card, "--card-key", signer.publicKey)).toMatchObject({
      severity: "ok",
      evidence: "1 signature; ES256 by signer, strict",
    });
    expect(await finding(card, "--card-key", stranger.publicKey)).toMatchObject({
      severity: "problem",
      evidence: expect.stringMatching(/^key-unknown: /),
    });
    expect(await finding(tampered(card, { name: "Evil" }), "--card-key", signer.publicKey)).toMatchObject({
      severity: "problem",
      evidence: expect.stringMatching(/^signature-mismatch: /),
    });
  });

  it("says how they would be verified where none is known", async () => {
    expect(await finding(card)).toMatchObject({
      severity: "note",
      evidence: "1 signature, not verified",
      fix: expect.stringContaining("--card-key"),
    });
  });

  it("asks the key set of the card's own origin, and says what that proves", async () => {
    const text = await signedCard(cwd, signer, {}, "--jku", `${host.url}/jwks.json`);
    expect(await finding(text)).toMatchObject({
      severity: "note",
      what: expect.stringContaining(`signed by a key of its own origin`),
      evidence: "1 signature; ES256 by signer, strict",
    });
    expect(await finding(tampered(text, { name: "Evil" }))).toMatchObject({
      severity: "warning",
      evidence: expect.stringMatching(/^signature-mismatch: /),
    });
  });

  it("finds a card without one in order, unless a key is known", async () => {
    const unsigned = tampered(card, { signatures: undefined });
    expect(await finding(unsigned)).toMatchObject({ severity: "note" });
    expect(await finding(unsigned, "--card-key", signer.publicKey)).toMatchObject({ severity: "problem" });
  });
});
