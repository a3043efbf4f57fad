import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlledAgent, startControlledAgent } from "../../test-support/controlled-agent.ts";
import { field, fieldsOf } from "../../test-support/fields.ts";
import { startRecordingAgent } from "../../test-support/recording-agent.ts";
import { runCommand } from "../../test-support/run-command.ts";

let agent: ControlledAgent;
let directory: string;
let card: Record<string, unknown>;

beforeAll(async () => {
  agent = await startControlledAgent();
  directory = await mkdtemp(join(tmpdir(), "a2a-card-"));
  card = await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json();
  await writeFile(join(directory, "card.json"), JSON.stringify(card));
});

afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

describe("a2a card get (A2ACLI_CARD_GET_001)", () => {
  for (const [what, reference] of [
    ["a host", () => new URL(agent.url).host],
    ["an origin", () => agent.url],
    ["an origin with a slash", () => `${agent.url}/`],
    ["the URL of the card", () => `${agent.url}/.well-known/agent-card.json`],
    ["a path", () => join(directory, "card.json")],
    ["a relative path", () => "card.json"],
    ["a file:// URL", () => pathToFileURL(join(directory, "card.json")).href],
  ] as const) {
    it(`takes ${what}, as argument and as --agent-card, and prints the card as it is`, async () => {
      const asArgument = await runCommand(["card", "get", reference(), "-o", "json"], { cwd: directory });
      const asFlag = await runCommand(["card", "get", "-a", reference(), "-o", "json"], { cwd: directory });
      expect(asArgument).toMatchObject({ exitCode: 0, stderr: "" });
      expect(JSON.parse(asArgument.stdout)).toEqual(card);
      expect(asFlag.stdout).toBe(asArgument.stdout);
    });

    it(`sends by way of ${what}`, async () => {
      const { stdout } = await runCommand(["send", "task hello", "-a", reference()], { cwd: directory });
      expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
    });
  }

  it("shows identity, capabilities, interfaces, security and skills in text", async () => {
    await using recorder = await startRecordingAgent({
      provider: { organization: "Acme", url: "https://acme.example" },
      capabilities: { streaming: true, extensions: [{ uri: "urn:x", required: true }] },
      securitySchemes: {
        b: { httpAuthSecurityScheme: { scheme: "Bearer" } },
        k: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
      },
      securityRequirements: [{ schemes: { b: { list: ["read"] }, k: { list: [] } } }, { schemes: {} }],
      signatures: [{ protected: "e30", signature: "x" }],
    });
    const { stdout, stderr } = await runCommand(["card", "get", recorder.url]);
    expect(stderr).toBe("");
    expect(Object.fromEntries(fieldsOf(stdout))).toEqual({
      Agent: ["recorder"],
      Description: ["Keeps what it is sent."],
      Version: ["1.0.0"],
      Provider: ["Acme, https://acme.example"],
      Streaming: ["yes"],
      "Push Notifications": ["no"],
      "Extended Card": ["no"],
      Extension: ["urn:x, required"],
      Interface: [`JSONRPC 1.0 at ${recorder.url}/rpc`],
      "Security Scheme": ["b: HTTP Bearer", "k: API key in the header X-Key"],
      "Security Requirement": ["b (read) and k", "none"],
      Signature: ["1, not verified: give the signer's key (--key)"],
      "Input Modes": ["*/*"],
      "Output Modes": ["*/*"],
      Skill: ["main, Main"],
      "Skill Description": ["Everything."],
      "Skill Tags": ["test"],
    });
    expect(recorder.calls).toEqual([]);
  });

  it("shows the card of an agent that this command cannot call", async () => {
    await using recorder = await startRecordingAgent({
      supportedInterfaces: [{ url: "https://h/x", protocolBinding: "urn:other", protocolVersion: "1.0" }],
    });
    const { stdout, exitCode } = await runCommand(["card", "get", recorder.url]);
    expect([field(stdout, "Interface"), exitCode]).toEqual(["urn:other 1.0 at https://h/x", 0]);
  });

  it("shows an older card as the 1.0 card that it is read as, and says what is odd", async () => {
    const path = join(directory, "older.json");
    const older = {
      protocolVersion: "0.3.0",
      name: "old",
      description: "Older.",
      version: "1.0.0",
      url: "https://old.example/rpc",
      preferredTransport: "JSONRPC",
      capabilities: { streaming: true },
      defaultInputModes: ["text"],
      defaultOutputModes: ["text"],
      skills: [{ id: "s", name: "S", description: "Skill.", tags: ["t"] }],
    };
    await writeFile(path, JSON.stringify(older));
    const { stdout, stderr, exitCode } = await runCommand(["card", "get", path, "-o", "json"]);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^warning: /);
    expect(JSON.parse(stdout)).toMatchObject({
      name: "old",
      supportedInterfaces: [{ url: "https://old.example/rpc", protocolBinding: "JSONRPC" }],
    });
  });

  for (const [what, body, code] of [
    ["a web page", "<html>hello</html>", /CARD_(?:NOT_FOUND|INVALID)/],
    ["broken JSON", '{"name":', /CARD_(?:NOT_FOUND|INVALID)/],
    ["a card with wrong types", '{"name":{},"supportedInterfaces":7}', /CARD_INVALID/],
  ] as const) {
    it(`says what is wrong with ${what} in a card's place`, async () => {
      const server = createServer((_, response) => response.end(body)).listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo; // a TCP server has one
      const { stdout, exitCode } = await runCommand([
        "card",
        "get",
        `http://127.0.0.1:${port}`,
        "-o",
        "json",
      ]);
      server.closeAllConnections();
      server.close();
      const { error } = JSON.parse(stdout) as { error: { code: string; message: string } }; // the envelope
      expect(error.code).toMatch(code);
      expect(error.message).not.toBe("");
      expect([1, 3]).toContain(exitCode);
    });
  }
});

describe("a2a card get --validate (A2ACLI_CARD_GET_002)", () => {
  const validate = async (json: unknown, ...flags: readonly string[]) => {
    const path = join(directory, "candidate.json");
    await writeFile(path, JSON.stringify(json));
    return await runCommand(["card", "get", path, "--validate", ...flags]);
  };

  it("finds nothing wrong with the cards of this project", async () => {
    const { stdout, exitCode } = await runCommand(["card", "get", agent.url, "--validate"]);
    expect([field(stdout, "Valid"), exitCode]).toEqual(["yes", 0]);
    const json = await runCommand(["card", "get", agent.url, "--validate", "-o", "json"]);
    expect(JSON.parse(json.stdout)).toEqual(card);
  });

  it("lists every problem with its path", async () => {
    const { version: _, ...rest } = card;
    const { stdout, stderr, exitCode } = await validate({
      ...rest,
      verison: "1",
      skills: [{ id: "s", name: "S", description: 7 }],
      supportedInterfaces: [{ url: "https://h", protocolBinding: "JSONRPC" }],
      securitySchemes: { odd: {} },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("[A2ACLI_ERR_CARD_INVALID]");
    expect(fieldsOf(stdout).get("Problem")?.toSorted()).toEqual([
      expect.stringMatching(/^securitySchemes\.odd has none of apiKeySecurityScheme, /),
      "skills[0].description is 7, not STRING",
      "skills[0].tags is missing",
      "supportedInterfaces[0].protocolVersion is missing",
      "verison is not a field of A2A 1.0",
      "version is missing",
    ]);
  });

  it("says the problems once, as fields, and counts them in the error", async () => {
    const { version: _, name: __, ...rest } = card;
    const { stdout, stderr } = await validate(rest);
    expect(fieldsOf(stdout).get("Problem")).toHaveLength(2);
    expect(stderr).toMatch(/does not fit the schema of A2A 1\.0: 2 problems \[/);
    expect(stderr).not.toContain("is missing");
  });

  it("finds nothing wrong with the members of 0.3 beside those of 1.0", async () => {
    expect(card).toMatchObject({ protocolVersion: "0.3.0", preferredTransport: "JSONRPC" });
    const { stdout, exitCode } = await validate(card);
    expect([field(stdout, "Valid"), exitCode]).toEqual(["yes", 0]);
  });

  it("says first that a card is of an older version", async () => {
    const { supportedInterfaces: _, ...rest } = card;
    const { stdout, exitCode } = await validate(rest);
    expect(fieldsOf(stdout).get("Problem")?.[0]).toBe(
      "the card has fields of an older version of A2A (0.3.0): protocolVersion, url, preferredTransport, additionalInterfaces, supportsAuthenticatedExtendedCard",
    );
    expect(exitCode).toBe(1);
  });

  it("says in English what is no object", async () => {
    expect(fieldsOf((await validate([])).stdout).get("Problem")).toEqual([
      "the card is no AgentCard, but an array",
    ]);
  });

  it("looks for a thousand problems at most, and says so", async () => {
    const empty = { ...card, supportedInterfaces: Array.from({ length: 100_000 }, () => ({})) };
    const { stdout, stderr } = await validate(empty);
    expect(fieldsOf(stdout).get("Problem")).toHaveLength(1_000);
    expect(stderr).toContain("1000 problems, where a2a stopped counting");
  });

  it("is one envelope with -o json", async () => {
    const { version: _, ...rest } = card;
    const { stdout, exitCode } = await validate(rest, "-o", "json");
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      error: expect.objectContaining({
        code: "A2ACLI_ERR_CARD_INVALID",
        message: expect.stringContaining("version is missing"),
      }),
    });
  });
});

describe("a2a card get --extended (A2ACLI_CARD_GET_003)", () => {
  it("is refused before it is sent where the card does not have one (A2ACLI_VER_003)", async () => {
    await using recorder = await startRecordingAgent();
    const { stdout, exitCode } = await runCommand(["card", "get", recorder.url, "--extended", "-o", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: "UnsupportedOperationError", a2aCode: -32004 },
    });
    expect([exitCode, recorder.calls]).toEqual([1, []]);
  });

  it("prints the extended card", async () => {
    await using recorder = await startRecordingAgent({ capabilities: { extendedAgentCard: true } });
    const { stdout } = await runCommand(["card", "get", recorder.url, "--extended"]);
    expect(field(stdout, "Interface")).toBe("JSONRPC 1.0 at http://127.0.0.1:1/rpc");
    expect(JSON.parse(recorder.calls[0]?.body ?? "")).toMatchObject({ method: "GetExtendedAgentCard" });
  });
});
