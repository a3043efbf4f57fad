import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectBinding, grpcWebBinding } from "@a2a-connect/core/internal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "../../test-support/run-command.ts";
import { CliError } from "../cli-error.ts";
import { type GivenFlags, resolveSettings } from "./resolve.ts";

let home: string;
let cwd: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "a2a-home-"));
  cwd = join(home, "project", "deep", "down");
  await mkdir(cwd, { recursive: true });
  await mkdir(join(home, ".config", "a2a-cli"), { recursive: true });
});

afterEach(async () => {
  await rm(home, { recursive: true });
});

const globalFile = () => join(home, ".config", "a2a-cli", ".env");
const localFile = () => join(home, "project", ".env");

function resolve(flags: GivenFlags = {}, env: Readonly<Record<string, string>> = {}) {
  return resolveSettings(flags, { env, cwd, home });
}

describe("settings (A2ACLI_CONFIG_002)", () => {
  it("are those of the built-in table when nobody says anything (A2ACLI_DEFAULT_001)", () => {
    expect(resolve().settings).toEqual({
      agentCard: undefined,
      transports: [],
      a2aVersion: undefined,
      output: "text",
      stream: false,
      wait: undefined,
      verbose: false,
      debug: false,
      insecure: false,
      bearer: undefined,
      apiKey: undefined,
      contextId: undefined,
      taskId: undefined,
      metadata: undefined,
      serviceParameters: {},
      allowedCredentials: [],
      pollIntervalMs: 2_000,
      timeoutMs: undefined,
    });
  });

  it("are decided by flag, environment, local file, global file, built-in default, in that order", async () => {
    const levels = [
      () => writeFile(globalFile(), "A2ACLI_CONTEXT_ID=global\n"),
      () => writeFile(localFile(), 'A2ACLI_CONTEXT_ID="local"\n'),
    ];
    expect(resolve().origins.get("context-id")).toMatchObject({ source: "built-in" });
    await levels[0]?.();
    expect(resolve().origins.get("context-id")).toMatchObject({ value: "global", where: globalFile() });
    await levels[1]?.();
    expect(resolve().origins.get("context-id")).toMatchObject({ value: "local", where: localFile() });
    const env = { A2ACLI_CONTEXT_ID: "env" };
    expect(resolve({}, env).origins.get("context-id")).toMatchObject({
      value: "env",
      source: "environment",
      where: "A2ACLI_CONTEXT_ID",
    });
    expect(resolve({ "context-id": "flag" }, env).settings.contextId).toBe("flag");
  });

  it("are those of --config in place of the local file, and the environment still wins", async () => {
    await writeFile(localFile(), "A2ACLI_CONTEXT_ID=local\nA2ACLI_TASK_ID=local\n");
    const path = join(home, "other.env");
    await writeFile(path, "A2ACLI_CONTEXT_ID=named\n");
    expect(resolve({ config: path }).settings).toMatchObject({ contextId: "named", taskId: undefined });
    expect(resolve({ config: path }, { A2ACLI_CONTEXT_ID: "env" }).settings.contextId).toBe("env");
    expect(() => resolve({ config: join(home, "missing") })).toThrow(CliError);
  });

  it("never read --stream and --config from anywhere but the command line", async () => {
    const env = { A2ACLI_STREAM: "true", A2ACLI_CONFIG: join(home, "missing"), A2ACLI_HELP: "true" };
    await writeFile(localFile(), "A2ACLI_STREAM=true\n");
    expect(resolve({}, env).settings.stream).toBe(false);
    expect(resolve({ stream: true }).settings.stream).toBe(true);
  });

  for (const [flags, env, wait] of [
    [{}, {}, undefined],
    [{ async: true }, {}, false],
    [{ wait: true }, {}, true],
    [{ wait: false }, {}, false],
    [{}, { A2ACLI_ASYNC: "true" }, false],
    [{ wait: true }, { A2ACLI_ASYNC: "true" }, true],
    [{ async: true }, { A2ACLI_WAIT: "yes" }, false],
    [{}, { A2ACLI_ASYNC: "0" }, true],
  ] as const) {
    it(`wait or not: ${JSON.stringify(flags)} over ${JSON.stringify(env)} is ${wait}`, () => {
      expect(resolve(flags, env).settings).toMatchObject({ wait });
    });
  }

  for (const [flag, value] of [
    ["transport", ["carrier-pigeon"]],
    ["a2a-version", "new"],
    ["output", "yaml"],
    ["poll-interval", "soon"],
    ["timeout", "-1s"],
    ["metadata", "[1]"],
    ["svc-param", ["no colon"]],
  ] as const) {
    it(`refuse a --${flag} that cannot be meant, naming where it is from`, async () => {
      const refusal = (error: unknown) => error instanceof CliError && error.code === "A2ACLI_ERR_USAGE";
      expect(() => resolve({ [flag]: value })).toThrow(expect.toSatisfy(refusal));
      const name = `A2ACLI_${flag.toUpperCase().replaceAll("-", "_")}`;
      expect(() => resolve({}, { [name]: [value].flat()[0] ?? "" })).toThrow(name);
      await writeFile(localFile(), `${name}='${[value].flat()[0]}'\n`);
      expect(() => resolve()).toThrow(`${name} in ${localFile()}`);
    });
  }

  it("refuse both --wait and --async", () => {
    expect(() => resolve({ wait: true, async: true })).toThrow(/contradict/);
  });

  it("read every spelling of a binding", () => {
    const transport = ["json-rpc", "JSONRPC", "rest", "HTTP+JSON", "grpc", "connect", "gRPC-Web", "urn:x:y"];
    expect(resolve({ transport }).settings.transports).toEqual([
      "JSONRPC",
      "JSONRPC",
      "HTTP+JSON",
      "HTTP+JSON",
      "GRPC",
      connectBinding,
      grpcWebBinding,
      "urn:x:y",
    ]);
  });

  it("read lists from the environment: bindings between commas, service parameters one a line", () => {
    const env = { A2ACLI_TRANSPORT: "grpc, rest", A2ACLI_SVC_PARAM: "X-One:1,2\nx-two:3" };
    expect(resolve({}, env).settings).toMatchObject({
      transports: ["GRPC", "HTTP+JSON"],
      serviceParameters: { "x-one": "1,2", "x-two": "3" },
    });
  });

  it("come with a warning when a file with credentials is open to others (A2ACLI_CONFIG_001)", async () => {
    await writeFile(localFile(), "A2ACLI_BEARER=secret\n", { mode: 0o600 });
    expect(resolve().warnings).toEqual([]);
    await chmod(localFile(), 0o644);
    expect(resolve().warnings).toEqual([expect.stringMatching(/A2ACLI_BEARER.*chmod 600/)]);
    await writeFile(localFile(), "A2ACLI_OUTPUT=text\n");
    expect(resolve().warnings).toEqual([]);
  });
});

describe("a2a config show, of an agent of a2a.config.yaml (a2a-cli §8.3)", () => {
  const text = `agents:
  demo:
    url: http://localhost:4000
    binding: grpc
    protocolVersion: "1.0"
    auth: { tokenEnv: DEMO_TOKEN }
    headers: { x-team: memory }
`;
  const show = async (env: Record<string, string>, ...argv: string[]) =>
    await runCommand(["config", "show", ...argv], { cwd: home, env });
  const path = () => join(home, "a2a.config.yaml");

  it("shows what the file says about it, with file and line", async () => {
    await writeFile(path(), text);
    const { stdout } = await show({ DEMO_TOKEN: "s3cret", A2ACLI_API_KEY: "k" }, "-a", "demo");
    expect(stdout).toContain(`transport: grpc (file ${path()}:4)\n`);
    expect(stdout).toContain(`a2a-version: 1.0 (file ${path()}:5)\n`);
    expect(stdout).toContain(`bearer: *** (file ${path()}:6)\n`);
    expect(stdout).toContain(`api-key: none (file ${path()}:6)\n`);
    expect(stdout).toContain(`svc-param: x-team:memory (file ${path()}:7)\n`);
    expect(stdout).toContain(`file: ${path()}\n`);
    expect(stdout).not.toContain("s3cret");
  });

  it("shows a flag where one was given", async () => {
    await writeFile(path(), text);
    const { stdout } = await show({ DEMO_TOKEN: "s" }, "-a", "demo", "--transport", "jsonrpc", "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({
      settings: { transport: { source: "flag" }, bearer: { value: "***", where: `${path()}:6` } },
      files: [path()],
    });
  });

  it("shows what it can when the file is broken, or lacks a variable, and says so", async () => {
    await writeFile(path(), "agents: [\n");
    expect(await show({})).toMatchObject({
      stderr: expect.stringMatching(/^warning: .*a2a\.config\.yaml:\d+: is not valid YAML/),
      exitCode: 0,
    });
    await writeFile(path(), text);
    expect(await show({}, "-a", "demo")).toMatchObject({
      stderr: expect.stringContaining("DEMO_TOKEN, which is not set"),
      stdout: expect.stringContaining(`file: ${path()}\n`),
    });
  });
});

describe("a2a config show", () => {
  for (const [alias, shown] of [
    ["--watch", "wait: on (flag --wait)"],
    ["--no-wait", "wait: off (flag --wait)"],
    ["--return-immediately", "async: on (flag --async)"],
  ] as const) {
    it(`knows ${alias} by its first name`, async () => {
      const { stdout } = await runCommand(["config", "show", alias]);
      expect(stdout).toContain(`${shown}\n`);
    });
  }

  it("shows each value and its source, credentials masked", async () => {
    await writeFile(localFile(), "A2ACLI_OUTPUT=text\nA2ACLI_BEARER=file-secret\n", { mode: 0o600 });
    const env = { A2ACLI_API_KEY: "env-secret", A2ACLI_SVC_PARAM: "x-token:param-secret" };
    const { stdout, stderr, exitCode } = await runCommand(
      ["-a", "host-1", "config", "show", "--timeout", "5m"],
      { env, cwd: localFile().replace("/.env", "") },
    );
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout.split("\n")).toEqual(
      expect.arrayContaining([
        "agent-card: host-1 (flag --agent-card)",
        "timeout: 5m (flag --timeout)",
        `output: text (file ${localFile()})`,
        `bearer: *** (file ${localFile()})`,
        "api-key: *** (environment A2ACLI_API_KEY)",
        "svc-param: x-token:*** (environment A2ACLI_SVC_PARAM)",
        "poll-interval: 2s (built in)",
        `file: ${localFile()}`,
      ]),
    );
    expect(stdout).not.toContain("secret");
  });

  it("is one JSON document with -o json, credentials masked as well", async () => {
    const { stdout } = await runCommand(["config", "show", "-o", "json", "--bearer", "flag-secret"], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({
      settings: {
        bearer: { value: "***", source: "flag", where: "--bearer" },
        output: { value: "json", source: "flag" },
        "poll-interval": { value: null, source: "built-in", default: "2s" },
      },
    });
    expect(stdout).not.toContain("secret");
  });
});

describe("a2a --help", () => {
  it("shows the defaults that are in effect (A2ACLI_CLI_001)", async () => {
    const env = { A2ACLI_POLL_INTERVAL: "9s", A2ACLI_BEARER: "env-secret" };
    const { stdout, exitCode } = await runCommand(["send", "--help"], { cwd, env });
    const words = stdout.replace(/\s+/g, " ");
    expect(exitCode).toBe(0);
    expect(words).toContain("(default: 9s, from A2ACLI_POLL_INTERVAL)");
    expect(words).toContain("(default: ***, from A2ACLI_BEARER)");
    expect(words).toContain("(default: the card's order)");
  });

  it("has every canonical spelling (§7.2), on the command and before it", async () => {
    const flags =
      "--protocol, --a2a-version -a, --agent-card --async --bearer --api-key --config --context-id --debug -h, --help --insecure --metadata -o, --output --poll-interval --timeout --stream --svc-param --task-id --transport --verbose --wait";
    for (const argv of [["--help"], ["help", "send"], ["task", "get", "--help"]]) {
      const { stdout } = await runCommand(argv, { cwd });
      for (const flag of flags.replaceAll(", ", ",").split(" ")) {
        expect(stdout, `${argv.join(" ")} ${flag}`).toContain(flag.replace(",", ", "));
      }
    }
    expect((await runCommand(["-v"], { cwd })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
