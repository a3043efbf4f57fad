import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { expect } from "vitest";
import { startControlledAgent } from "../../../packages/cli/test-support/controlled-agent.ts";
import { startRecordingAgent } from "../../../packages/cli/test-support/recording-agent.ts";
import { at, card, cardPath, send, startSick } from "../../../packages/cli/test-support/sick-server.ts";
import { collectChecks } from "../check.ts";

const bearer = {
  securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  securityRequirements: [{ schemes: { b: { list: [] } } }],
};
const apiKey = (location: string, name: string) => ({
  securitySchemes: { k: { apiKeySecurityScheme: { location, name } } },
  securityRequirements: [{ schemes: { k: { list: [] } } }],
});

/** Credentials. */
export const authentication = collectChecks((shows) => {
  for (const [what, members, flags, found] of [
    ["a bearer token", bearer, ["--bearer", "s3cret"], { authorization: "Bearer s3cret" }],
    ["an API key in a header", apiKey("header", "X-Acme"), ["--api-key", "s3cret"], { "x-acme": "s3cret" }],
    ["an API key in a cookie", apiKey("cookie", "sid"), ["--api-key", "s3cret"], { cookie: "sid=s3cret" }],
    ["a service parameter", {}, ["--svc-param", "x-trace-id:7"], { "x-trace-id": "7" }],
  ] as const) {
    shows("A2ACLI_AUTH_001", `sends ${what} as the card wants it`, async ({ a2a }) => {
      await using recorder = await startRecordingAgent(members);
      const { exitCode } = await a2a("send", "x", ...flags, "-a", recorder.url);
      expect(recorder.calls[0]?.headers).toMatchObject(found);
      expect(exitCode).toBe(0);
    });
  }

  shows(
    "A2ACLI_AUTH_001",
    "sends an API key in the query where the card wants it there, and calls no credential a service parameter",
    async ({ a2a }) => {
      await using recorder = await startRecordingAgent(apiKey("query", "key"));
      await a2a("send", "x", "--api-key", "s3cret", "-a", recorder.url);
      expect(recorder.calls[0]?.url).toBe("/rpc?key=s3cret");
      const { stdout } = await a2a("send", "--help");
      expect(/--svc-param.*?(?=\n {2}-)/s.exec(stdout)?.[0]).not.toMatch(/auth|credential|token|key/i);
    },
  );

  shows(
    "A2ACLI_ERR_CREDENTIALS_MISSING",
    "says which credentials are missing before it sends anything",
    async ({ a2a }) => {
      await using recorder = await startRecordingAgent(bearer);
      const { stdout, exitCode } = await a2a("send", "x", "-o", "json", "-a", recorder.url);
      expect(JSON.parse(stdout)).toMatchObject({
        error: { code: "A2ACLI_ERR_CREDENTIALS_MISSING", hint: expect.stringContaining("A2ACLI_BEARER") },
      });
      expect([exitCode, recorder.calls]).toEqual([4, []]);
    },
  );

  shows("A2ACLI_ERR_AUTH_FAILED", "says that credentials were refused", async ({ a2a }) => {
    await using server = await startSick((request, response) => {
      const supportedInterfaces = [
        { url: `http://${request.headers.host}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ];
      at({ [cardPath]: send(card({ supportedInterfaces })), "/rpc": send("{}", {}, 401) })(request, response);
    });
    const { stdout, exitCode } = await a2a("send", "x", "--bearer", "s3cret", "-o", "json", "-a", server.url);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "A2ACLI_ERR_AUTH_FAILED" } });
    expect(exitCode).toBe(4);
  });

  shows(
    "A2ACLI_AUTH_002",
    "takes credentials from the environment, lets flags win, and says that flags show",
    async ({ a2a, start }) => {
      await using recorder = await startRecordingAgent();
      const env = { A2ACLI_BEARER: "from-env", A2ACLI_API_KEY: "key-from-env" };
      await start(["send", "x", "-a", recorder.url], { env }).result;
      expect(recorder.calls[0]?.headers).toMatchObject({
        authorization: "Bearer from-env",
        "x-api-key": "key-from-env",
      });
      await start(["send", "x", "--bearer", "from-flag", "-a", recorder.url], { env }).result;
      expect(recorder.calls[1]?.headers).toMatchObject({ authorization: "Bearer from-flag" });
      const help = (await a2a("send", "--help")).stdout.replaceAll(/\s+/g, " ");
      for (const name of ["A2ACLI_BEARER", "A2ACLI_API_KEY"]) {
        expect(help).toContain(`as a flag it shows in process lists and history, so prefer ${name}`);
      }
    },
  );

  shows(
    ["A2ACLI_AUTH_003", "transport_security_tls_on: shipped", "transport_security_tls_on: overridable"],
    "verifies certificates, and warns when it is told not to, above all where a credential goes out",
    async ({ a2a }) => {
      await using own = await startControlledAgent({ tls: createSelfSignedCertificate() });
      const verified = await a2a("send", "echo x", "-o", "json", "-a", own.url);
      expect(JSON.parse(verified.stdout)).toMatchObject({ error: { code: "A2ACLI_ERR_UNREACHABLE" } });
      expect(verified.exitCode).toBe(3);
      const trusting = await a2a("send", "echo x", "--insecure", "--bearer", "s3cret", "-a", own.url);
      expect(trusting.exitCode).toBe(0);
      expect(trusting.stderr).toMatch(/^warning: TLS certificates are not verified/m);
      expect(trusting.stderr).toMatch(/^warning: a credential is sent/m);
    },
  );

  shows("A2ACLI_AUTH_004", "shows no credential, however verbose it is", async ({ ask, a2a }) => {
    const flags = ["--bearer", "s3cret-1", "--api-key", "s3cret-2", "--svc-param", "x-auth-token:s3cret-3"];
    for (const result of await Promise.all([
      ask("send", "task x", ...flags, "--debug", "--verbose"),
      ask("send", "task x", ...flags, "--debug", "--verbose", "--transport", "grpc"),
      ask("config", "show", ...flags, "--debug", "--verbose"),
      a2a("send", "x", ...flags, "--debug", "-a", "http://127.0.0.1:1"),
    ])) {
      expect(result.stdout + result.stderr).not.toContain("s3cret");
    }
    expect((await ask("send", "task x", ...flags, "--debug")).stderr).toContain("authorization: Bearer ***");
  });
});
