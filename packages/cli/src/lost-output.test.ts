import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleProgram } from "../test-support/bundled-program.ts";
import { startControlledAgent } from "../test-support/controlled-agent.ts";
import { createSigner, type Signer, signedCard, tampered } from "../test-support/signer.ts";

/** A race between the output and the exit code is not lost every time. */
const attempts = process.env["A2A_LONG"] === "1" ? 5 : 1;

const main = await bundleProgram(new URL("./main.ts", import.meta.url));

/** Where the output of a command goes, as a shell has it. */
const sinks = {
  "a pipe that nobody reads": "| :",
  "a reader who stops after a line": "| head -n 1 > head.txt",
  "a full disk": "> /dev/full",
} as const;

let cwd: string;
let signer: Signer;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-lost-"));
  signer = await createSigner(cwd, "signer");
  const card = await signedCard(cwd, signer);
  await writeFile(join(cwd, "good.json"), card);
  await writeFile(join(cwd, "changed.json"), tampered(card, { description: "Another." }));
});

afterAll(() => rm(cwd, { recursive: true }));

/** The exit code of a command whose output goes somewhere, and what it says on its other stream. */
async function run(words: string, sink: string): Promise<{ exitCode: number; stderr: string }> {
  const command = `"${process.execPath}" "${main}" ${words} ${sink}; exit \${PIPESTATUS[0]}`;
  const child = spawn("bash", ["-c", command], {
    cwd,
    env: { ...process.env, HOME: cwd },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const closed = once(child, "close");
  const stderr = await text(child.stderr);
  const [code] = await closed;
  return { exitCode: typeof code === "number" ? code : -1, stderr };
}

describe("a verdict whose output is lost", () => {
  for (const [where, sink] of Object.entries(sinks)) {
    for (const format of ["text", "json"]) {
      it(`refuses a changed card with 1, before ${where} (${format})`, async () => {
        const words = `card verify changed.json --key signer.public.json -o ${format}`;
        for (let attempt = 0; attempt < attempts; attempt++)
          expect((await run(words, sink)).exitCode).toBe(1);
      });
    }

    it(`of card get is 1, before ${where}`, async () => {
      expect((await run("card get changed.json --key signer.public.json", sink)).exitCode).toBe(1);
    });

    it(`keeps the code of an error, before ${where}`, async () => {
      for (const format of ["text", "json"])
        expect((await run(`card verify ./none.json -o ${format}`, sink)).exitCode).toBe(3);
      expect((await run("card verify --profile none -o json", sink)).exitCode).toBe(2);
    });
  }

  it("is no success, though the card is verified", async () => {
    for (const sink of ["| :", "> /dev/full"]) {
      const { exitCode, stderr } = await run("card verify good.json --key signer.public.json", sink);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(sink === "| :" ? /^$/ : /^error: .*output/);
      expect((await run("card get good.json --key signer.public.json", sink)).exitCode).toBe(1);
    }
  });

  it("is no success of keys new, whose private key is lost", async () => {
    expect((await run("keys new --out -", "| :")).exitCode).toBe(1);
  });

  it("is 1 for doctor and smoke, whatever they would have found", async () => {
    const server = createServer((_, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    for (const sink of ["| :", "> /dev/full"]) {
      for (const words of [`doctor ${url}`, `doctor good.json -o json`, `smoke ${url}`]) {
        expect([words, (await run(words, sink)).exitCode]).toEqual([words, 1]);
      }
    }
    server.close();
  });
});

describe("output that nobody wanted more of", () => {
  it("ends quietly with 0", async () => {
    for (const words of ["card get good.json", "config show", "--help", "card canonical good.json"]) {
      expect([words, await run(words, "| :")]).toEqual([words, { exitCode: 0, stderr: "" }]);
    }
  });

  it("ends quietly with 0 when it is an agent's card: a2a card get … | head", async () => {
    await using agent = await startControlledAgent();
    const child = spawn(process.execPath, [main, "card", "get", agent.url], { cwd });
    const said = text(child.stderr);
    child.stdout.destroy();
    const [exitCode] = await once(child, "close");
    expect({ stderr: await said, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  });

  it("is an error when a full disk took it", async () => {
    for (const words of [
      "card get good.json",
      "config show -o json",
      "--help",
      "card canonical good.json",
      "card sign good.json --key signer.json",
      "keys new --out -",
      "keys public signer.json",
    ]) {
      const { exitCode, stderr } = await run(words, "> /dev/full");
      expect([words, exitCode]).toEqual([words, 1]);
      expect(stderr).toMatch(/error: .*no space left on device \[A2ACLI_ERR_INTERNAL\]/);
    }
  });
});

describe("what a command says besides its output", () => {
  it("may be lost: it does its job", async () => {
    await using agent = await startControlledAgent();
    const argv = [main, "card", "get", agent.url, "--debug", "-o", "json"];
    const child = spawn(process.execPath, argv, { cwd });
    const printed = text(child.stdout);
    child.stderr.destroy();
    const [exitCode] = await once(child, "close");
    expect(JSON.parse(await printed)).toMatchObject({ name: "controlled" });
    expect(exitCode).toBe(0);
  });
});
