import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlledAgent, startControlledAgent } from "../../test-support/controlled-agent.ts";
import { type RecordingAgent, startRecordingAgent } from "../../test-support/recording-agent.ts";
import { type CommandSurroundings, runCommand } from "../../test-support/run-command.ts";

let agent: ControlledAgent;
let recorder: RecordingAgent;
let directory: string;

beforeAll(async () => {
  agent = await startControlledAgent();
  recorder = await startRecordingAgent({
    securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  });
  directory = await mkdtemp(join(tmpdir(), "a2a-open-"));
});

afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await recorder[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

/** By which binding a message went. */
async function bindingOf(
  flags: readonly string[],
  surroundings?: CommandSurroundings,
): Promise<string | undefined> {
  const { stderr } = await runCommand(["send", "echo hi", ...flags, "--debug"], surroundings);
  return /^debug: calls go to \S+ by (\S+)$/m.exec(stderr)?.[1];
}

describe("the binding (A2ACLI_TX_001, TX_002, TX_004, TX_005)", () => {
  const connect = "urn:a2a-connect:binding:connect:v1";
  for (const [flags, binding] of [
    [[], "JSONRPC"],
    [["--transport", "grpc"], "GRPC"],
    [["--transport", "connect", "--transport", "grpc"], connect],
    [["--transport", "urn:nobody:has:this", "--transport", "http+json"], "HTTP+JSON"],
    [["--transport", "urn:nobody:has:this"], "JSONRPC"],
  ] as const) {
    it(`is ${binding} with ${flags.join(" ") || "nothing said"}`, async () => {
      expect(await bindingOf([...flags, "-a", agent.url])).toBe(binding);
    });
  }

  it("is what the environment prefers", async () => {
    const env = { A2ACLI_TRANSPORT: "http+json,grpc", A2ACLI_AGENT_CARD: agent.url };
    expect(await bindingOf([], { env })).toBe("HTTP+JSON");
    expect(await bindingOf(["--transport", "grpc"], { env })).toBe("GRPC");
  });
});

describe("the version (A2ACLI_VER_001)", () => {
  it("may be 0.3 of an agent that speaks both, over each wire that has it", async () => {
    for (const transport of ["jsonrpc", "http+json", "grpc"]) {
      const argv = ["send", "echo hi", "-a", agent.url, "--protocol", "0.3", "--transport", transport];
      const { stdout, stderr, exitCode } = await runCommand([...argv, "--debug"]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining("hi") });
      expect(stderr).toMatch(/^debug: {3}a2a-version: 0\.3$/m);
    }
  });

  it("is told with every call, whatever it is", async () => {
    const before = recorder.calls.length;
    await runCommand(["send", "hello", "-a", recorder.url]);
    await runCommand(["send", "hello", "-a", recorder.url, "--a2a-version", "1.0"]);
    const versions = recorder.calls.slice(before).map(({ headers }) => headers["a2a-version"]);
    expect(versions).toEqual(["1.0", "1.0"]);
  });

  it("is not below 1.0 unless that is named, which the hint says", async () => {
    const path = join(directory, "older.json");
    const card = await (await fetch(`${agent.url}/.well-known/agent-card.json`)).json();
    await writeFile(path, JSON.stringify({ ...card, supportedInterfaces: undefined }));
    const refused = await runCommand(["send", "echo hi", "-a", path]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(/A2A 0\.3 .*VersionNotSupportedError.*\nhint: .*--protocol 0\.3/);
    expect((await runCommand(["send", "echo hi", "-a", path, "--protocol", "0.3"])).stdout).toContain("hi");
  });

  for (const version of ["0.3", "9.9"]) {
    it(`is an error when it is ${version} and the agent does not speak that, and nothing is sent`, async () => {
      const before = recorder.calls.length;
      const argv = ["send", "hello", "-a", recorder.url, "--a2a-version", version, "-o", "json"];
      const { stdout, exitCode } = await runCommand(argv);
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: "VersionNotSupportedError" } });
      expect(recorder.calls.length).toBe(before);
    });
  }
});

describe("an agent of a2a.config.yaml", () => {
  const write = (text: string) => writeFile(join(directory, "a2a.config.yaml"), text);
  const token = { ACME_TOKEN: "acme-token" };

  it("is called by its name, with its own credentials and not those for all agents", async () => {
    await write(`agents:\n  acme:\n    url: ${recorder.url}\n    auth:\n      tokenEnv: ACME_TOKEN\n`);
    const before = recorder.calls.length;
    const env = { ...token, A2ACLI_BEARER: "for-all", A2ACLI_API_KEY: "for-all" };
    const surroundings = { cwd: directory, env };
    const send = ["send", "-a", "acme", "hello", "--allow-credential"];
    expect((await runCommand([...send, "ACME_TOKEN"], surroundings)).exitCode).toBe(0);
    await runCommand([...send, "A2ACLI_BEARER", "--bearer", "flag-token"], surroundings);
    const sent = recorder.calls.slice(before).map(({ headers }) => headers["authorization"]);
    expect(sent).toEqual(["Bearer acme-token", "Bearer flag-token"]);
    expect(JSON.stringify(recorder.calls)).not.toContain("for-all");
  });

  it("is called by its binding, unless a flag says otherwise", async () => {
    await write(`agents:\n  acme:\n    url: ${agent.url}\n    binding: GRPC\n`);
    const surroundings = { cwd: directory, env: { A2ACLI_TRANSPORT: "jsonrpc" } };
    expect(await bindingOf(["-a", "acme"], surroundings)).toBe("GRPC");
    expect(await bindingOf(["-a", "acme", "--transport", "rest"], surroundings)).toBe("HTTP+JSON");
  });

  it("never shows its credentials, with --debug neither", async () => {
    await write(`agents:\n  acme:\n    url: ${recorder.url}\n    auth:\n      tokenEnv: ACME_TOKEN\n`);
    const send = ["send", "-a", "acme", "say acme-token", "--debug", "--allow-credential", "ACME_TOKEN"];
    const { stderr } = await runCommand(send, { cwd: directory, env: token });
    expect(stderr).toContain("authorization: Bearer ***");
    expect(stderr).not.toContain("acme-token");
  });

  it("is missed by name, with the names that there are", async () => {
    await write(`agents:\n  acme:\n    url: ${recorder.url}\n`);
    const { stderr, exitCode } = await runCommand(["send", "-a", "acmee", "hello"], { cwd: directory });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/hint: .*acme/);
  });
});
