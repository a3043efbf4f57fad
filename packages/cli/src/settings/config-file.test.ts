import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CliError } from "../cli-error.ts";
import { publishedFile } from "../files.ts";
import { agentNames, findAgent, knownAgentsHint, readServerConfig } from "./book.ts";
import { parseConfig } from "./config-file.ts";

const full = `
server:
  url: http://localhost:4100/
  store: data/tasks.sqlite
agents:
  legal-agent:
    url: https://legal.example.org
    binding: GRPC
    auth: { tokenEnv: LEGAL_TOKEN }
    version: ^1.2
    protocolVersion: "1.0"
    headers: { x-team: memory }
  local:
    url: localhost:4000
`;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "a2a-config-"));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

async function write(text: string): Promise<void> {
  await writeFile(join(directory, "a2a.config.yaml"), text);
}

describe("the agent book", () => {
  it("finds an agent from below, with its credentials out of the environment", async () => {
    await write(full);
    const cwd = join(directory, "deep", "below");
    await mkdir(cwd, { recursive: true });
    expect(await findAgent("legal-agent", { cwd, env: { LEGAL_TOKEN: " s3cret\n" } })).toEqual({
      where: expect.stringMatching(/a2a\.config\.yaml:\d+$/),
      locate: expect.any(Function),
      directory,
      secretName: "LEGAL_TOKEN",
      url: "https://legal.example.org",
      binding: "GRPC",
      protocolVersion: "1.0",
      version: "^1.2",
      headers: { "x-team": "memory" },
      bearer: "s3cret",
      apiKey: undefined,
    });
    expect(await agentNames({ cwd })).toEqual(["legal-agent", "local"]);
  });

  for (const [what, key, meant] of [
    ["a file beside it", "keys/a.public.json", (directory: string) => join(directory, "keys/a.public.json")],
    ["an absolute path", "/etc/a2a/key.pem", () => "/etc/a2a/key.pem"],
    ["the key itself", '{"kty":"OKP","crv":"Ed25519","x":"A","kid":"k"}', undefined],
  ] as const) {
    it(`pins the key that signs an agent's card: ${what}, wherever it is asked from`, async () => {
      await write(`agents:\n  a:\n    url: https://a.example\n    key: '${key}'\n    profiles: [js-1]\n`);
      const cwd = join(directory, "below");
      await mkdir(cwd);
      expect(await findAgent("a", { cwd, env: {} })).toMatchObject({
        key: meant?.(directory) ?? key,
        profiles: ["js-1"],
      });
    });
  }

  it("knows no name without a file, and none that could be a host or a path", async () => {
    expect(await findAgent("legal-agent", { cwd: directory, env: {} })).toBeUndefined();
    await write("agents: [");
    for (const reference of ["example.org", "localhost:4000", "https://x", "./card.json", ""]) {
      expect(await findAgent(reference, { cwd: directory, env: {} })).toBeUndefined();
    }
  });

  it("does not find what every object has", async () => {
    await write(full);
    expect(await findAgent("constructor", { cwd: directory, env: {} })).toBeUndefined();
  });

  it("tells the names there are when one is unknown", async () => {
    await write(full);
    expect(await knownAgentsHint({ cwd: directory }, "x")).toBe("a2a.config.yaml knows legal-agent, local.");
  });

  it("names the variable that is not set", async () => {
    await write(full);
    await expect(
      findAgent("legal-agent", { cwd: directory, env: { LEGAL_TOKEN: "" } }),
    ).rejects.toMatchObject({
      code: "A2ACLI_ERR_CREDENTIALS_MISSING",
      message: expect.stringContaining("LEGAL_TOKEN"),
    });
  });

  for (const [what, member, sentence, hint] of [
    ["a token and a client", "auth: { tokenEnv: A, clientIdEnv: A, clientSecretEnv: B }", "both", undefined],
    [
      "a private key for a pinned one",
      'key: "-----BEGIN PRIVATE KEY-----\\nhunter2"',
      "agents.a.key is a private key",
      "a2a keys public",
    ],
    ["a private JWK", `key: '{"kty":"OKP","d":"hunter2"}'`, "agents.a.key is a private key", undefined],
    ["two credentials", "auth: { tokenEnv: A, apiKeyEnv: B }", "both", undefined],
  ] as const) {
    it(`refuses ${what} instead of ignoring it`, async () => {
      await write(`agents:\n  a:\n    url: https://a.example\n    ${member}\n`);
      const failure: unknown = await findAgent("a", { cwd: directory, env: { A: "1", B: "2" } }).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(CliError);
      expect(failure).toMatchObject({ code: "A2ACLI_ERR_USAGE", message: expect.stringContaining(sentence) });
      expect(JSON.stringify(failure)).not.toContain("hunter2");
      if (hint !== undefined) expect(failure).toMatchObject({ hint: expect.stringContaining(hint) });
    });
  }
});

describe("the served agent's settings", () => {
  it("are relative to the file, and a local URL says the port", async () => {
    await write(full);
    expect(await readServerConfig({ cwd: directory })).toEqual({
      url: "http://localhost:4100",
      port: 4100,
      store: join(directory, "data/tasks.sqlite"),
    });
  });

  it("are none without a file, and take no port from a public URL", async () => {
    expect(await readServerConfig({ cwd: directory })).toBeUndefined();
    await write("server: { url: 'https://agents.example.org:8443', store: memory }");
    expect(await readServerConfig({ cwd: directory })).toEqual({
      url: "https://agents.example.org:8443",
      port: undefined,
      store: "memory",
    });
  });

  it("say which credentials callers need, by one gate", async () => {
    const authOf = async (auth: string) => {
      await write(`server:\n  auth: ${auth}\n`);
      return (await readServerConfig({ cwd: directory }))?.auth;
    };
    expect(await authOf("{ oidc: https://id.example/realms/a }")).toBe("oidc=https://id.example/realms/a");
    expect(await authOf("{ apiKeys: keys.json }")).toBe(`api-key=${join(directory, "keys.json")}`);
    for (const wrong of ["{}", "{ oidc: https://id.example, apiKeys: keys.json }", "{ tokenEnv: A }"]) {
      await expect(authOf(wrong)).rejects.toThrow("a2a.config.yaml:2: server.auth");
    }
  });
});

describe("a wrong file", () => {
  for (const [what, text, line, sentence] of [
    ["broken YAML", "agents:\n  a: {url: [\n", 3, "not valid YAML"],
    [
      "an unknown member",
      "agents:\n  a:\n    url: https://a\n    ulr: b\n",
      4,
      "agents.a.ulr is not known here",
    ],
    ["an unknown section", "agent: {}\n", 1, "agent is not known here"],
    ["a missing URL", "agents:\n  a:\n    binding: GRPC\n", 2, "agents.a must have required property 'url'"],
    ["an agent that is no mapping", "agents:\n  a: https://a\n", 2, "agents.a must be object"],
    ["a number for a version", "agents:\n  a:\n    url: a\n    protocolVersion: 1.0\n", 4, "must be string"],
    [
      "another version",
      "agents:\n  a:\n    url: a\n    protocolVersion: one\n",
      4,
      'must match pattern .*such as "1.0"',
    ],
    [
      "an empty auth",
      "agents:\n  a:\n    url: a\n    auth: {}\n",
      4,
      "agents.a.auth must NOT have fewer than 1 properties",
    ],
    [
      "half an OAuth client",
      "agents:\n  a:\n    url: a\n    auth:\n      clientIdEnv: A\n",
      4,
      "must have property clientSecretEnv when property clientIdEnv is present",
    ],
    [
      "a name that could be a host",
      "agents:\n  a.b:\n    url: a\n",
      2,
      "agents.a.b cannot be used as a name",
    ],
    [
      "profiles without a key",
      "agents:\n  a:\n    url: a\n    profiles: [js-1]\n",
      2,
      "agents.a must have property key when property profiles is present",
    ],
    [
      "a profile that nobody knows",
      "agents:\n  a:\n    url: a\n    key: k.json\n    profiles: [js]\n",
      5,
      "agents.a.profiles.0 must be equal to one of the allowed values: js-1, python-1, raw",
    ],
    [
      "profiles that are no list",
      "agents:\n  a:\n    url: a\n    key: k.json\n    profiles: js-1\n",
      5,
      "agents.a.profiles must be array",
    ],
    ["a list", "- a\n", 1, "must be object"],
    ["a member given twice", "agents: {}\nagents: {}\n", 2, "duplicate key"],
  ] as const) {
    it(`is told by its line: ${what}`, () => {
      expect(() => parseConfig("a2a.config.yaml", text)).toThrow(
        expect.objectContaining({
          code: "A2ACLI_ERR_USAGE",
          message: expect.stringMatching(new RegExp(`^a2a\\.config\\.yaml:${line}: .*${sentence}`)),
        }),
      );
    });
  }

  for (const member of [
    "auth: { token: hunter2 }",
    "auth: { tokenEnv: hunter2-hunter2 }",
    "auth: { client_secret: hunter2 }",
    "headers: { Authorization: Bearer hunter2 }",
    "headers: { X-API-Key: hunter2 }",
    "bearer: hunter2",
    "url: https://user:hunter2@a.example",
  ]) {
    it(`is refused for a secret, which is not repeated: ${member.split(":")[0]}`, () => {
      const parse = (): unknown => parseConfig("f", `agents:\n  a:\n    ${member}\n`);
      expect(parse).toThrow(CliError);
      expect(parse).toThrow(/would hold a secret|never the secret|without user name/);
      expect(parse).not.toThrow(/hunter2/);
    });
  }

  it("is none when it is empty", () => {
    expect(parseConfig("f", "").config).toEqual({});
    expect(parseConfig("f", "# nothing yet\n").config).toEqual({});
  });
});

describe("the published schema", () => {
  it("describes every member", () => {
    const { definitions } = JSON.parse(readFileSync(publishedFile("a2a.config.schema.json"), "utf8")) as {
      definitions: Record<string, { properties?: Record<string, object> }>; // JSON Schema
    };
    const members = Object.values(definitions).flatMap(({ properties = {} }) => Object.entries(properties));
    expect(members.length).toBeGreaterThan(12);
    // A reference to `auth` is described where it leads.
    const silent = members.filter(([name, member]) => name !== "auth" && !("description" in member));
    expect(silent).toEqual([]);
  });
});
