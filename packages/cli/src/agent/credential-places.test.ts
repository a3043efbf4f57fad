import { describe, expect, it } from "vitest";
import { startRecordingAgent } from "../../test-support/recording-agent.ts";
import { runCommand } from "../../test-support/run-command.ts";

const bearer = { httpAuthSecurityScheme: { scheme: "Bearer" } };
const basic = { httpAuthSecurityScheme: { scheme: "Basic" } };
const oauth = { oauth2SecurityScheme: { flows: {} } };
const apiKey = (location: string, name: string) => ({ apiKeySecurityScheme: { location, name } });
const needs = (...names: readonly string[]) => ({
  schemes: Object.fromEntries(names.map((name) => [name, { list: [] }])),
});

async function send(card: Readonly<Record<string, unknown>>, ...flags: readonly string[]) {
  await using agent = await startRecordingAgent(card);
  const result = await runCommand(["send", "-a", agent.url, "hello", ...flags]);
  return { ...result, calls: agent.calls, requests: agent.requests };
}

describe("credentials (A2ACLI_AUTH_001, L-9)", () => {
  for (const [what, card, flags, header, value] of [
    [
      "a bearer token where no scheme is declared",
      {},
      ["--bearer", "tok-1"],
      "authorization",
      "Bearer tok-1",
    ],
    ["an API key where no scheme is declared", {}, ["--api-key", "key-1"], "x-api-key", "key-1"],
    [
      "a bearer token by the declared scheme",
      { securitySchemes: { b: bearer }, securityRequirements: [needs("b")] },
      ["--bearer", "tok-1", "--api-key", "unused-key"],
      "authorization",
      "Bearer tok-1",
    ],
    [
      "an access token for OAuth 2",
      { securitySchemes: { o: oauth }, securityRequirements: [needs("o")] },
      ["--bearer", "tok-1"],
      "authorization",
      "Bearer tok-1",
    ],
    [
      "an API key in the header that is named",
      { securitySchemes: { k: apiKey("header", "X-Acme-Key") }, securityRequirements: [needs("k")] },
      ["--api-key", "key-1"],
      "x-acme-key",
      "key-1",
    ],
    [
      "an API key in the cookie that is named",
      { securitySchemes: { k: apiKey("cookie", "sid") }, securityRequirements: [needs("k")] },
      ["--api-key", "key-1"],
      "cookie",
      "sid=key-1",
    ],
    [
      "the second of two alternatives, when only that one can be met",
      {
        securitySchemes: { b: bearer, k: apiKey("header", "X-Acme-Key") },
        securityRequirements: [needs("b", "k"), needs("k")],
      },
      ["--api-key", "key-1"],
      "x-acme-key",
      "key-1",
    ],
    [
      "an Authorization of the user's own",
      { securitySchemes: { b: basic }, securityRequirements: [needs("b")] },
      ["--svc-param", "Authorization: Basic dXNlcjpwYXNz"],
      "authorization",
      "Basic dXNlcjpwYXNz",
    ],
  ] as const) {
    it(`are attached: ${what}`, async () => {
      const { calls, requests, exitCode, stderr } = await send(card, ...flags);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(calls.map(({ headers }) => headers[header])).toEqual([value]);
      expect(JSON.stringify(calls)).not.toContain("unused-key");
      for (const request of requests.filter(({ url }) => url.startsWith("/.well-known/"))) {
        expect(request.headers).not.toHaveProperty(header);
      }
    });
  }

  it("are attached: an API key in the query, with nothing of it in a header", async () => {
    const { calls } = await send(
      { securitySchemes: { k: apiKey("query", "api_key") }, securityRequirements: [needs("k")] },
      "--api-key",
      "key & more",
    );
    expect(calls.map(({ url }) => url)).toEqual(["/rpc?api_key=key+%26+more"]);
    expect(JSON.stringify(calls[0]?.headers)).not.toContain("key+%26");
  });

  it("are not attached: an API key in the query of a call over gRPC, which has none", async () => {
    const { stdout, exitCode } = await send(
      {
        supportedInterfaces: [{ url: "localhost:1", protocolBinding: "GRPC", protocolVersion: "1.0" }],
        securitySchemes: { k: apiKey("query", "api_key") },
        securityRequirements: [needs("k")],
      },
      ...["--api-key", "key-1", "-o", "json"],
    );
    const { error } = JSON.parse(stdout) as { error: Record<string, unknown> }; // the envelope
    expect({ exitCode, ...error }).toMatchObject({
      exitCode: 2,
      code: "A2ACLI_ERR_USAGE",
      message: "the agent wants its API key in the URL's query, and gRPC has no query",
      hint: "use --transport jsonrpc, or another binding of the card",
    });
  });

  it("both go along when one requirement names both", async () => {
    const { calls } = await send(
      {
        securitySchemes: { b: bearer, k: apiKey("header", "X-Acme-Key") },
        securityRequirements: [needs("b", "k")],
      },
      "--bearer",
      "tok-1",
      "--api-key",
      "key-1",
    );
    expect(calls[0]?.headers).toMatchObject({ authorization: "Bearer tok-1", "x-acme-key": "key-1" });
  });

  for (const [what, card, flags, hint] of [
    [
      "nothing was given",
      { securitySchemes: { b: bearer }, securityRequirements: [needs("b")] },
      [],
      /A2ACLI_BEARER.*--bearer/,
    ],
    [
      "the other kind was given",
      { securitySchemes: { k: apiKey("header", "X-Key") }, securityRequirements: [needs("k")] },
      ["--bearer", "tok-1"],
      /A2ACLI_API_KEY.*--api-key/,
    ],
    [
      "one of two was given",
      {
        securitySchemes: { b: bearer, k: apiKey("header", "X-Key") },
        securityRequirements: [needs("b", "k")],
      },
      ["--bearer", "tok-1"],
      /--api-key/,
    ],
    [
      "the scheme is not described",
      { securitySchemes: {}, securityRequirements: [needs("ghost")] },
      ["--bearer", "tok-1"],
      undefined,
    ],
  ] as const) {
    it(`are missed before anything is sent: ${what}`, async () => {
      const { calls, stdout, exitCode } = await send(card, ...flags, "-o", "json");
      expect(calls).toEqual([]);
      expect(exitCode).toBe(4);
      const { error } = JSON.parse(stdout) as { error: { code: string; hint: string | null } }; // the envelope
      expect(error.code).toBe("A2ACLI_ERR_CREDENTIALS_MISSING");
      if (hint === undefined) {
        expect(error.hint).toBeNull();
      } else {
        expect(error.hint).toMatch(hint);
      }
    });
  }

  it("are not needed where one alternative is to come without", async () => {
    const { calls, exitCode } = await send({
      securitySchemes: { b: bearer },
      securityRequirements: [needs("b"), needs()],
    });
    expect({ calls: calls.length, exitCode }).toEqual({ calls: 1, exitCode: 0 });
  });

  it("go to a card's endpoint only where the public card declares a scheme (A2ACLI_AUTH_008)", async () => {
    for (const [card, authorization] of [
      [{}, undefined],
      [{ securitySchemes: { b: bearer } }, "Bearer tok-1"],
    ] as const) {
      await using recorder = await startRecordingAgent({
        ...card,
        capabilities: { extendedAgentCard: true },
      });
      await runCommand(["card", "get", recorder.url, "--extended", "--bearer", "tok-1"]);
      expect(recorder.calls.map(({ headers }) => headers["authorization"])).toEqual([authorization]);
    }
  });

  it("come with a warning where nobody checks who is at the other end (A2ACLI_AUTH_003)", async () => {
    const { stderr } = await send({}, "--bearer", "tok-1", "--insecure");
    expect(stderr).toMatch(/warning: TLS certificates are not verified/);
    expect(stderr).toMatch(/warning: a credential is sent/);
    expect((await send({}, "--insecure")).stderr).not.toMatch(/a credential is sent/);
  });

  it("come from the environment, too, and the flag wins (A2ACLI_AUTH_002)", async () => {
    await using recorder = await startRecordingAgent();
    const env = { A2ACLI_BEARER: "from-env" };
    await runCommand(["send", "-a", recorder.url, "hello"], { env });
    await runCommand(["send", "-a", recorder.url, "hello", "--bearer", "from-flag"], { env });
    expect(recorder.calls.map(({ headers }) => headers["authorization"])).toEqual([
      "Bearer from-env",
      "Bearer from-flag",
    ]);
  });
});

describe("errors", () => {
  for (const format of ["text", "json"]) {
    it(`do not repeat credentials in ${format}, when an agent does (A2ACLI_AUTH_004)`, async () => {
      await using recorder = await startRecordingAgent();
      const argv = ["send", "-a", recorder.url, "refuse", "--bearer", "tok-1-secret", "-o", format];
      const { stdout, stderr, exitCode } = await runCommand(argv);
      expect(exitCode).toBe(1);
      expect(stdout + stderr).toContain("*** is refused");
      expect(stdout + stderr).not.toContain("tok-1-secret");
    });
  }

  it("do not repeat what stands behind an option that is misspelled", async () => {
    const { stderr } = await runCommand(["send", "hi", "--api_key=key-1-secret"]);
    expect(stderr).toContain("unknown option '--api_key'");
  });
});

describe("service parameters", () => {
  it("go with every call as headers, and not with the card", async () => {
    const { calls, requests } = await send(
      {},
      "--svc-param",
      "x-trace-id:abc:1",
      "--svc-param",
      "x-other: 2",
    );
    expect(calls[0]?.headers).toMatchObject({ "x-trace-id": "abc:1", "x-other": "2" });
    expect(requests[0]?.headers).not.toHaveProperty("x-trace-id");
  });

  it("need a name and a value", async () => {
    const { exitCode, stderr } = await send({}, "--svc-param", "nonsense");
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/--svc-param: its value is not of the form name:value/);
  });
});
