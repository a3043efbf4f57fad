import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../test-support/run-command.ts";
import { cardPath, startSick } from "../../test-support/sick-server.ts";
import { createSigner, type Signer, signedCard, tampered } from "../../test-support/signer.ts";
import type { Finding } from "./findings.ts";

let cwd: string;
let signer: Signer;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-unverified-"));
  signer = await createSigner(cwd, "signer");
});

afterAll(() => rm(cwd, { recursive: true }));

/** Counts who connects, and says nothing. */
async function startListener(): Promise<AsyncDisposable & { readonly port: number; connections: number }> {
  const listener = {
    port: 0,
    connections: 0,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
  const server = createServer((socket) => {
    listener.connections++;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  listener.port = (server.address() as AddressInfo).port; // it listens on a port
  return listener;
}

describe("a2a doctor, where a key is known and the card is not verified by it", () => {
  for (const flags of [[], ["--checklist"]]) {
    it(`asks for the card and for nothing else, and says why (${flags.join(" ") || "no flags"})`, async () => {
      await using thief = await startListener();
      const asked: { method: string; url: string; authorization: string | undefined }[] = [];
      let card = "";
      await using server = await startSick((request, response) => {
        const { method = "", url = "", headers } = request;
        asked.push({ method, url, authorization: headers.authorization });
        response.writeHead(200, { "content-type": "application/json" }).end(card);
      });
      const at = (port: number) => ({
        securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "bearer" } } },
        securityRequirements: [{ schemes: { b: { list: [] } } }],
        supportedInterfaces: ["JSONRPC", "HTTP+JSON"].map((protocolBinding) => ({
          url: `http://127.0.0.1:${port}/rpc`,
          protocolBinding,
          protocolVersion: "1.0",
        })),
      });
      card = tampered(await signedCard(cwd, signer, at(1)), at(thief.port));
      await writeFile(
        join(cwd, "a2a.config.yaml"),
        `agents:\n  good:\n    url: ${server.url}\n    key: ${signer.publicKey}\n`,
      );
      const { stdout, exitCode } = await runCommand(["doctor", "good", ...flags, "-o", "json"], {
        cwd,
        env: { A2ACLI_BEARER: "very-secret" },
      });
      expect(thief.connections).toBe(0);
      expect(new Set(asked.map(({ method, url }) => `${method} ${url}`))).toEqual(
        new Set([`GET ${cardPath}`]),
      );
      expect(asked.map(({ authorization }) => authorization)).toEqual(asked.map(() => undefined));
      expect(exitCode).toBe(1);
      const findings: readonly Finding[] = JSON.parse(stdout).findings;
      expect(findings.at(-1)).toMatchObject({
        id: "card.not-asked",
        severity: "note",
        what: expect.stringContaining("a2a examined nothing else"),
      });
    });
  }
});
