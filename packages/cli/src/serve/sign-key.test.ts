import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

  it("refuses a file that cannot sign, by its name, before it serves", async () => {
    const words = ["serve", "agent.ts", "--port", "0", "--sign-key"];
    for (const file of [old.publicKey, "nowhere.json", "agent.ts"]) {
      const { stdout, stderr, exitCode } = await runCommand([...words, file], { cwd });
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
      expect(stderr).toContain(file);
    }
  });
});
