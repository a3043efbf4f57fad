import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAgent } from "@a2a-connect/node/client";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runCommand } from "../../test-support/run-command.ts";
import { describeFailure } from "../failures.ts";

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-reach-"));
});

afterEach(async () => {
  await rm(cwd, { recursive: true });
});

/** Has it listen for one test. Gives its host and port. */
async function listen(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `localhost:${(server.address() as AddressInfo).port}`; // it listens on a port
}

const cardAt = (host: string | undefined): string =>
  JSON.stringify({
    name: "plain",
    description: "For tests.",
    version: "1.0.0",
    supportedInterfaces: [{ url: `http://${host}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: {},
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  });

/** Sends its card, and answers calls in its own way. */
const answering =
  (call: RequestListener): RequestListener =>
  (request, response) => {
    if (request.method === "POST") {
      return call(request, response);
    }
    response.setHeader("content-type", "application/json");
    response.end(cardAt(request.headers.host));
  };

/** The error that `-o json` prints. */
async function failureOf(...argv: readonly string[]): Promise<unknown> {
  const { stdout } = await runCommand([...argv, "-o", "json"], { cwd });
  return (JSON.parse(stdout) as { error: unknown }).error; // what is printed of a failure
}

describe("a name that leads nowhere", () => {
  const name = "legal-agnet-of-nobody";

  it("has the same code with and without a2a.config.yaml, which only adds what may be meant", async () => {
    const without = await failureOf("card", "get", name);
    await writeFile(join(cwd, "a2a.config.yaml"), "agents:\n  legal-agent-of-nobody: { url: localhost:1 }\n");
    const withFile = await failureOf("card", "get", name);
    expect(without).toMatchObject({ code: "A2ACLI_ERR_UNREACHABLE" });
    expect(withFile).toMatchObject({
      code: "A2ACLI_ERR_UNREACHABLE",
      hint: "did you mean legal-agent-of-nobody? a2a.config.yaml knows legal-agent-of-nobody.",
    });
  });

  it("that is known, but whose agent is away, hints at the agent", async () => {
    await writeFile(join(cwd, "a2a.config.yaml"), "agents:\n  away: { url: localhost:1 }\n");
    const failure = await failureOf("card", "get", "away");
    expect(failure).not.toMatchObject({ hint: expect.stringContaining("a2a.config.yaml knows") });
  });

  it("is a usage error with file and line where its URL is none of http", async () => {
    await writeFile(join(cwd, "a2a.config.yaml"), "agents:\n  demo:\n    url: ftp://x\n");
    expect(await failureOf("card", "get", "demo")).toMatchObject({
      code: "A2ACLI_ERR_USAGE",
      message: `${join(cwd, "a2a.config.yaml")}:3: agents.demo.url must be a host, or an http or https URL`,
    });
  });
});

it("a server that takes connections and never answers is unreachable", async () => {
  const host = await listen(createServer(() => {}));
  const error = await connectAgent(host, { connectTimeoutMs: 50 }).catch((thrown: unknown) => thrown);
  expect(await describeFailure(error, { hasCredentials: false })).toMatchObject({
    code: "A2ACLI_ERR_UNREACHABLE",
  });
});

describe("TLS", () => {
  it("with a certificate of its own: the hint knows --insecure, for development", async () => {
    const host = await listen(createTlsServer(createSelfSignedCertificate()));
    expect(await failureOf("card", "get", `https://${host}`)).toMatchObject({
      code: "A2ACLI_ERR_UNREACHABLE",
      hint: expect.stringMatching(/NODE_EXTRA_CA_CERTS.*development.*--insecure/),
    });
  });

  it("on a port that was called without: the hint gives the address with https", async () => {
    const host = await listen(createTlsServer(createSelfSignedCertificate()));
    expect(await failureOf("card", "get", `http://${host}/agent`)).toMatchObject({
      code: "A2ACLI_ERR_UNREACHABLE",
      hint: expect.stringContaining(`https://${host}/agent`),
    });
  });
});

describe("a message without a usable answer", () => {
  for (const [what, call, code, exitCode] of [
    ["an HTTP 500", (_, response) => response.writeHead(500).end("oops"), "InvalidAgentResponseError", 1],
    ["a closed connection", (request) => request.socket.destroy(), "A2ACLI_ERR_UNREACHABLE", 3],
  ] as readonly [string, RequestListener, string, number][]) {
    it(`but ${what} is ${code}, and the hint is the command to look for its task`, async () => {
      const url = `http://${await listen(createServer(answering(call)))}`;
      const argv = ["send", "hi", "-a", url, "--context-id", "c", "-o", "json"];
      const { stdout, exitCode: status } = await runCommand(argv);
      expect(JSON.parse(stdout)).toMatchObject({
        error: { code, hint: expect.stringContaining(`a2a task list -a ${url} --context-id c`) },
      });
      expect(status).toBe(exitCode);
    });
  }
});

describe("an address", () => {
  it("that is a directory is said to be one", async () => {
    expect(await failureOf("card", "get", `${cwd}/`)).toMatchObject({
      code: "A2ACLI_ERR_CARD_NOT_FOUND",
      message: `${cwd} is a directory`,
    });
  });

  it("with a query: nobody is left to believe that calls are sent with it", async () => {
    const host = await listen(createServer(answering((_, response) => response.end("{}"))));
    const { stderr, exitCode } = await runCommand(["card", "get", `http://${host}/?token=s3cret`]);
    expect(stderr).toMatch(/^warning: a2a does not send the query of the address .*after the \?.*--api-key/);
    expect(stderr).not.toContain("s3cret");
    expect(exitCode).toBe(0);
    const plain = await runCommand(["card", "get", `http://${host}/card.json?v=1`]);
    expect(plain.stderr).toBe("");
  });
});

it("--timeout 0 is refused: nothing is done in no time", async () => {
  expect(await failureOf("task", "list", "-a", "localhost:1", "--timeout", "0")).toMatchObject({
    code: "A2ACLI_ERR_USAGE",
    message: expect.stringMatching(/--timeout.*"0" /),
  });
});

for (const argv of [
  ["send", ""],
  ["send", "  "],
  ["send", "--text", ""],
]) {
  it(`there is nothing to send in a2a ${argv.map((word) => JSON.stringify(word)).join(" ")}`, async () => {
    expect(await failureOf(...argv, "-a", "localhost:1")).toMatchObject({
      code: "A2ACLI_ERR_USAGE",
      message: expect.stringContaining("nothing to send"),
    });
  });
}
