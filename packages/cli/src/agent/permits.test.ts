import { mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { atTerminal, startOnTerminal } from "../../test-support/pseudo-terminal.ts";
import { type RecordingAgent, startRecordingAgent } from "../../test-support/recording-agent.ts";
import { runCommand } from "../../test-support/run-command.ts";

let agent: RecordingAgent;
let home: string;
/** A project that was cloned. */
let cwd: string;

beforeEach(async () => {
  agent = await startRecordingAgent();
  home = await realpath(await mkdtemp(join(tmpdir(), "a2a-permits-")));
  cwd = join(home, "project", "deep");
  await mkdir(cwd, { recursive: true });
});

afterEach(async () => {
  await agent[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

const homeFile = ".config/a2a-cli/.env";

/** Writes a file below the home; <AGENT> is the agent's URL. */
async function write(name: string, text: string): Promise<void> {
  await mkdir(dirname(join(home, name)), { recursive: true });
  await writeFile(join(home, name), text.replaceAll("<AGENT>", agent.url), { mode: 0o600 });
}

const config = "agents:\n  prod:\n    url: <AGENT>\n";
const withToken = `${config}    auth: { tokenEnv: AWS_SECRET_ACCESS_KEY }\n`;

const run = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand(argv, { cwd, env, home });

const sent = () => agent.calls.map(({ headers }) => headers["authorization"]);

describe("a credential", () => {
  for (const [what, files, argv, env, refused] of [
    [
      "of the home file, to the agent of a found .env",
      { [homeFile]: "A2ACLI_BEARER=home", "project/.env": "A2ACLI_AGENT_CARD=<AGENT>" },
      [],
      {},
      "A2ACLI_BEARER",
    ],
    [
      "of the home file, to an agent of a found a2a.config.yaml without auth",
      { [homeFile]: "A2ACLI_BEARER=home", "project/a2a.config.yaml": config },
      ["-a", "prod"],
      {},
      "A2ACLI_BEARER",
    ],
    [
      "of the environment that a found a2a.config.yaml names",
      { "project/a2a.config.yaml": withToken },
      ["-a", "prod"],
      { AWS_SECRET_ACCESS_KEY: "aws" },
      "AWS_SECRET_ACCESS_KEY",
    ],
    [
      "of the command line, to an agent of a found .env",
      { "project/.env": "A2ACLI_AGENT_CARD=<AGENT>" },
      ["--bearer", "typed"],
      {},
      "A2ACLI_BEARER",
    ],
    [
      "that is an API key",
      { "project/a2a.config.yaml": config },
      ["-a", "prod"],
      { A2ACLI_API_KEY: "key" },
      "A2ACLI_API_KEY",
    ],
    [
      "that is a service parameter",
      { "project/a2a.config.yaml": config },
      ["-a", "prod"],
      { A2ACLI_SVC_PARAM: "authorization:Basic eA==" },
      "A2ACLI_SVC_PARAM",
    ],
    [
      "to a name of the home file that a found a2a.config.yaml has made its own",
      { [homeFile]: "A2ACLI_BEARER=home\nA2ACLI_AGENT_CARD=prod", "project/a2a.config.yaml": config },
      [],
      {},
      "A2ACLI_BEARER",
    ],
    [
      "of a .env further up, to an agent of a found a2a.config.yaml",
      { ".env": "A2ACLI_BEARER=mine", "project/a2a.config.yaml": config },
      ["-a", "prod"],
      {},
      "A2ACLI_BEARER",
    ],
    [
      "of a .env further up, to a name of its own that a found a2a.config.yaml has taken",
      { ".env": "A2ACLI_BEARER=mine\nA2ACLI_AGENT_CARD=prod", "project/a2a.config.yaml": config },
      [],
      {},
      "A2ACLI_BEARER",
    ],
    [
      "to a host whose name a found a2a.config.yaml has taken",
      { [homeFile]: "A2ACLI_BEARER=home", "project/a2a.config.yaml": config.replace("prod", "localhost") },
      ["-a", "localhost"],
      {},
      "A2ACLI_BEARER",
    ],
  ] as const) {
    it(`is refused: ${what}`, async () => {
      for (const [name, text] of Object.entries(files)) await write(name, text);
      const { stderr, exitCode } = await run(["send", "hello", ...argv], env);
      expect(agent.calls).toEqual([]);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(
        new RegExp(
          `error: ${refused}\\b.* is not sent to ${agent.url}: that address comes from ${join(home, "project")}/`,
        ),
      );
      expect(stderr).toContain(`hint: to send it in this call, add --allow-credential ${refused}, or`);

      const allowed = await run(["send", "hello", ...argv, "--allow-credential", refused], env);
      expect({ exitCode: allowed.exitCode, calls: agent.calls.length }).toEqual({ exitCode: 0, calls: 1 });
    });
  }

  it("is refused to an agent of a found a2a.config.yaml, from a file elsewhere that a found .env links to", async () => {
    await write(homeFile, "A2ACLI_BEARER=home");
    await write("project/a2a.config.yaml", config);
    await symlink(join("..", homeFile), join(home, "project/.env"));
    expect(await run(["send", "hello", "-a", "prod"])).toMatchObject({ exitCode: 2 });
    expect(agent.calls).toEqual([]);
  });

  it("is refused to the agent of a card that lies where a host was meant", async () => {
    const card = JSON.parse(await (await fetch(`${agent.url}/.well-known/agent-card.json`)).text());
    await write("project/deep/agent.example.com", JSON.stringify(card));
    await write(homeFile, "A2ACLI_BEARER=home");
    expect(await run(["send", "hello", "-a", "agent.example.com"])).toMatchObject({ exitCode: 2 });
    expect(agent.calls).toEqual([]);
    expect(await run(["send", "hello", "-a", "./agent.example.com"])).toMatchObject({ exitCode: 0 });
    expect(sent()).toEqual(["Bearer home"]);
  });

  for (const [what, files, argv, env, token] of [
    [
      "of the home file, to an agent that was typed",
      { [homeFile]: "A2ACLI_BEARER=home", "project/.env": "A2ACLI_AGENT_CARD=https://elsewhere.example" },
      ["-a", "<AGENT>"],
      {},
      "home",
    ],
    [
      "of the home file, to its own agent",
      { [homeFile]: "A2ACLI_BEARER=home\nA2ACLI_AGENT_CARD=<AGENT>" },
      [],
      {},
      "home",
    ],
    [
      "of a found .env, to its own agent",
      { "project/.env": "A2ACLI_BEARER=own\nA2ACLI_AGENT_CARD=<AGENT>" },
      [],
      {},
      "own",
    ],
    [
      "of a found .env, to an agent of the a2a.config.yaml beside it",
      { "project/.env": "A2ACLI_BEARER=own", "project/a2a.config.yaml": config },
      ["-a", "prod"],
      {},
      "own",
    ],
    [
      "of the environment, to the agent of a file that --config names",
      { "project/.env": "A2ACLI_AGENT_CARD=<AGENT>" },
      ["--config", "../.env"],
      { A2ACLI_BEARER: "env" },
      "env",
    ],
    [
      "of the command line, to the agent of the environment",
      {},
      ["--bearer", "typed"],
      { A2ACLI_AGENT_CARD: "<AGENT>" },
      "typed",
    ],
  ] as const) {
    it(`is sent: ${what}`, async () => {
      for (const [name, text] of Object.entries(files)) await write(name, text);
      const here = (text: string) => text.replace("<AGENT>", agent.url);
      const result = await run(
        ["send", "hello", ...argv.map(here)],
        Object.fromEntries(Object.entries(env).map(([name, value]) => [name, here(value)])),
      );
      expect(result).toMatchObject({ stderr: "", exitCode: 0 });
      expect(sent()).toEqual([`Bearer ${token}`]);
    });
  }

  it("is no matter where the agent does not ask for it", async () => {
    await using anonymous = await startRecordingAgent({
      securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      securityRequirements: [{ schemes: {} }],
    });
    await write("project/.env", `A2ACLI_AGENT_CARD=${anonymous.url}`);
    expect(await run(["send", "hello"], { A2ACLI_BEARER: "env" })).toMatchObject({ stderr: "", exitCode: 0 });
    expect(anonymous.calls.map(({ headers }) => headers["authorization"])).toEqual([undefined]);
  });

  it("is left out by doctor, which examines without it and says so", async () => {
    await write("project/a2a.config.yaml", withToken);
    const { stderr } = await run(["doctor", "prod"], { AWS_SECRET_ACCESS_KEY: "aws-secret" });
    expect(stderr).toMatch(/^warning: AWS_SECRET_ACCESS_KEY is not sent to .*--allow-credential/m);
    expect(agent.requests.length).toBeGreaterThan(0);
    expect(JSON.stringify(agent.requests)).not.toContain("aws-secret");
  });

  it("is asked about on a terminal, once for a folder, a credential and an agent", atTerminal, async () => {
    await write("project/a2a.config.yaml", withToken);
    const env = { AWS_SECRET_ACCESS_KEY: "aws", HOME: home };
    const ask = async (answer: string) => {
      await using terminal = startOnTerminal(["send", "hello", "-a", "prod"], { cwd, env });
      await terminal.answer("Answer yes or no:", answer);
      return await terminal.exitCode;
    };
    expect(await ask("no\r")).toBe(2);
    expect(agent.calls).toEqual([]);
    expect(await ask("yes\r")).toBe(0);
    expect(sent()).toEqual(["Bearer aws"]);

    const memory = join(home, ".local/state/a2a-cli/allowed-credentials.json");
    const modes = await Promise.all(
      [memory, dirname(memory)].map(async (path) => (await stat(path)).mode & 0o777),
    );
    expect(modes).toEqual([0o600, 0o700]);
    expect(await readFile(memory, "utf8")).not.toContain('"aws"');
    expect(await run(["send", "hello", "-a", "prod"], env)).toMatchObject({ exitCode: 0 });

    await using elsewhere = await startRecordingAgent();
    await writeFile(join(home, "project/a2a.config.yaml"), withToken.replace("<AGENT>", elsewhere.url));
    expect(await run(["send", "hello", "-a", "prod"], env)).toMatchObject({ exitCode: 2 });
    expect(elsewhere.calls).toEqual([]);
  });
});

describe("a credential that is sent in clear text", () => {
  for (const [host, isOther] of [
    ["127.agent.invalid", true],
    ["localhost.agent.invalid", true],
    ["127.0.0.1", false],
    ["agent.localhost", false],
  ] as const) {
    it(`${isOther ? "is warned of" : "needs no warning on this machine"}: ${host}`, async () => {
      const card = JSON.parse(await (await fetch(`${agent.url}/.well-known/agent-card.json`)).text());
      for (const each of card.supportedInterfaces) each.url = `http://${host}:1`;
      await write("project/deep/card.json", JSON.stringify(card));
      const { stderr } = await run(["send", "hello", "-a", "./card.json", "--bearer", "typed"]);
      expect(stderr.includes(`in clear text to ${host}`)).toBe(isOther);
    });
  }
});

describe("a found .env", () => {
  it("does not switch off the verification of certificates, nor choose whom to trust", async () => {
    await write("project/.env", "A2ACLI_INSECURE=true\nA2ACLI_CARD_KEY=evil.json\n");
    await write(homeFile, "A2ACLI_CARD_KEY=mine.json\n");
    const { stdout, stderr } = await run(["config", "show", "-o", "json"]);
    expect(JSON.parse(stdout).settings).toMatchObject({
      insecure: { value: null },
      "card-key": { value: join(home, ".config/a2a-cli/mine.json") },
    });
    expect(stderr).toMatch(
      /warning: a2a ignores A2ACLI_INSECURE of .*project\/\.env, because you did not name that file/,
    );
    expect(stderr).toMatch(
      /warning: a2a ignores A2ACLI_CARD_KEY of .*project\/\.env, because you did not name that file/,
    );
    const named = await run(["config", "show", "-o", "json", "--config", "../.env"]);
    expect(JSON.parse(named.stdout).settings).toMatchObject({ insecure: { value: true } });
  });
});

describe("a found a2a.config.yaml", () => {
  it("does not put its key, or how that signs, in the place of the user's own", async () => {
    await write("project/a2a.config.yaml", `${config}    key: theirs.json\n    profiles: [raw]\n`);
    const show = async (env: Readonly<Record<string, string>>) =>
      JSON.parse((await run(["config", "show", "-a", "prod", "-o", "json"], env)).stdout).settings[
        "card-key"
      ];
    expect(await show({})).toMatchObject({ value: join(home, "project/theirs.json") });
    expect(await show({ A2ACLI_CARD_KEY: "mine.json" })).toMatchObject({ value: "mine.json" });
  });
});
