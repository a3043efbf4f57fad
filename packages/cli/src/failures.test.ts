import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AuthRequiredError,
  CardDriftError,
  CardExpectationError,
  CardInvalidError,
  CardNotFoundError,
  InputModeError,
  InvalidResponseError,
  NoInterfaceError,
  RequirementError,
  RunTimeoutError,
  SendUncertainError,
  UnreachableError,
  UntrustedOutputError,
} from "@a2a-connect/client";
import { a2aError } from "@a2a-connect/core";
import { errorCatalogue, isA2AErrorReason } from "@a2a-connect/core/internal";
import { AgentCardSchema, AgentInterfaceSchema, TaskSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlledAgent, startControlledAgent } from "../test-support/controlled-agent.ts";
import { field } from "../test-support/fields.ts";
import { runCommand } from "../test-support/run-command.ts";
import { cliErrors } from "./cli-error.ts";
import { describeFailure } from "./failures.ts";

let agent: ControlledAgent;

beforeAll(async () => {
  agent = await startControlledAgent();
});

afterAll(async () => {
  await agent[Symbol.asyncDispose]();
});

const anonymous = { hasCredentials: false };

describe("errors (A2ACLI_OUT_004)", () => {
  for (const transport of ["jsonrpc", "http+json", "grpc", "grpc-web", "connect"]) {
    it(`are the same over ${transport}: name, number, sentence, exit code`, async () => {
      const ask = (...words: readonly string[]) =>
        runCommand([...words, "-a", agent.url, "--transport", transport, "-o", "json"]);
      const missing = await ask("task", "get", "nope");
      expect(missing).toMatchObject({ exitCode: 1, stderr: "" });
      expect(JSON.parse(missing.stdout)).toEqual({
        error: {
          code: "TaskNotFoundError",
          message: 'task "nope": there is no such task',
          hint: expect.stringContaining("--debug"),
          a2aCode: -32001,
        },
      });
      const sent = await ask("send", "task hello");
      const { task } = JSON.parse(sent.stdout) as { task: { id: string } }; // what send prints
      const canceled = await ask("task", "cancel", task.id);
      expect(JSON.parse(canceled.stdout)).toMatchObject({
        error: { code: "TaskNotCancelableError", a2aCode: -32002 },
      });
    });
  }

  it("are sentences on stderr in text, and nothing is on stdout", async () => {
    const { stdout, stderr, exitCode } = await runCommand(["task", "get", "nope", "-a", agent.url]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 1 });
    expect(stderr).toMatch(
      /^error: task "nope": there is no such task \[TaskNotFoundError\]\nhint: .*--debug/,
    );
  });

  it("are the last line with -o json --stream", async () => {
    const argv = ["send", "--task-id", "nope", "hello", "-o", "json", "--stream"];
    const { stdout } = await runCommand([...argv, "-a", agent.url]);
    expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      error: { code: "TaskNotFoundError" },
    });
  });

  it("name every reason of the catalogue in the words of A2A", async () => {
    for (const reason of Object.keys(errorCatalogue).filter(isA2AErrorReason)) {
      const failure = await describeFailure(a2aError(reason, "no"), anonymous);
      const ownNames = {
        UNAVAILABLE: "A2ACLI_ERR_UNREACHABLE",
        UNAUTHENTICATED: "A2ACLI_ERR_CREDENTIALS_MISSING",
        PERMISSION_DENIED: "A2ACLI_ERR_AUTH_FAILED",
      };
      const name = Object.entries(ownNames).find(([each]) => each === reason)?.[1];
      expect(failure.code).toEqual(name ?? expect.stringMatching(/^[A-Z][A-Za-z0-9]*Error$/));
      expect(failure.a2aCode).toBe(errorCatalogue[reason].jsonRpcCode);
    }
    expect(
      (await describeFailure(a2aError("EXTENDED_AGENT_CARD_NOT_CONFIGURED", "no"), anonymous)).code,
    ).toBe("ExtendedAgentCardNotConfiguredError");
  });

  it("hint at nothing that only a program can do", async () => {
    const directory = await mkdtemp(join(tmpdir(), "a2a-hint-"));
    try {
      const path = join(directory, "card.json");
      const text = await (await fetch(new URL("/.well-known/agent-card.json", agent.url))).text();
      const foreign = [{ url: "wss://agent.example", protocolBinding: "urn:x", protocolVersion: "1.0" }];
      await writeFile(
        path,
        JSON.stringify({ ...JSON.parse(text), url: undefined, supportedInterfaces: foreign }),
      );
      const { stderr } = await runCommand(["send", "hello", "-a", path]);
      expect(stderr).toMatch(/^hint: ask the operator/m);
      expect(stderr).not.toContain("`");
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  const task = create(TaskSchema, { id: "t-1" });
  const newer = create(AgentInterfaceSchema, { protocolBinding: "JSONRPC", protocolVersion: "2.0" });
  const other = create(AgentInterfaceSchema, { protocolBinding: "urn:x", protocolVersion: "1.0" });
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  for (const [error, code] of [
    [new CardNotFoundError("http://h", "no card"), "A2ACLI_ERR_CARD_NOT_FOUND"],
    [new CardNotFoundError("http://h", "no host", { cause: refused }), "A2ACLI_ERR_UNREACHABLE"],
    [new CardInvalidError("no card", []), "A2ACLI_ERR_CARD_INVALID"],
    [new CardExpectationError("another card"), "A2ACLI_ERR_CARD_INVALID"],
    [new NoInterfaceError("none", [newer]), "VersionNotSupportedError"],
    [new NoInterfaceError("none", [other]), "A2ACLI_ERR_INTERNAL"],
    [new RequirementError("no", ["streaming"]), "UnsupportedOperationError"],
    [new RequirementError("no", ["pushNotifications"]), "PushNotificationNotSupportedError"],
    [new InputModeError("no", ["image/png"]), "ContentTypeNotSupportedError"],
    [
      new CardDriftError("changed", [], create(AgentCardSchema), {
        cause: a2aError("VERSION_NOT_SUPPORTED", "no"),
      }),
      "VersionNotSupportedError",
    ],
    [new UnreachableError("gone"), "A2ACLI_ERR_UNREACHABLE"],
    [new SendUncertainError("perhaps", "m-1"), "A2ACLI_ERR_UNREACHABLE"],
    [new InvalidResponseError("odd"), "InvalidAgentResponseError"],
    [new UntrustedOutputError("bad"), "A2ACLI_ERR_INTERNAL"],
    [new RunTimeoutError("late", task.id, task), "A2ACLI_ERR_TIMEOUT"],
    [new AuthRequiredError("ask", task), "A2ACLI_ERR_INTERNAL"],
    [new ConnectError("no", Code.Unauthenticated), "A2ACLI_ERR_CREDENTIALS_MISSING"],
    [new ConnectError("no", Code.PermissionDenied), "A2ACLI_ERR_AUTH_FAILED"],
    [new ConnectError("no", Code.Unavailable), "A2ACLI_ERR_UNREACHABLE"],
    [new ConnectError("no", Code.DeadlineExceeded), "A2ACLI_ERR_TIMEOUT"],
    [new ConnectError("no", Code.InvalidArgument), "InvalidParamsError"],
    [new ConnectError("no", Code.Unimplemented), "MethodNotFoundError"],
    [new ConnectError("no", Code.Internal), "InternalError"],
    [new TypeError("fetch failed", { cause: refused }), "A2ACLI_ERR_UNREACHABLE"],
    [new Error("a bug"), "A2ACLI_ERR_INTERNAL"],
    ["a bug", "A2ACLI_ERR_INTERNAL"],
  ] as const) {
    const name = error instanceof Error ? `${error.name} ${error.message}` : error;
    it(`call ${name} ${code}, with the exit code that belongs to it`, async () => {
      const failure = await describeFailure(error, anonymous);
      const exits: Readonly<Record<string, number>> = cliErrors;
      expect(failure).toMatchObject({ code, exitCode: exits[code] ?? 1 });
      expect(failure.message).not.toBe("");
    });
  }

  it("say that credentials were refused when some were given", async () => {
    const refusal = new ConnectError("no", Code.Unauthenticated);
    expect(await describeFailure(refusal, { hasCredentials: true })).toMatchObject({
      code: "A2ACLI_ERR_AUTH_FAILED",
      exitCode: 4,
    });
  });
});

describe("exit codes (A2ACLI_EXIT_001)", () => {
  for (const [argv, code] of [
    [["send", "--nonsense", "x"], "A2ACLI_ERR_USAGE"],
    [["nonsense"], "A2ACLI_ERR_USAGE"],
    [["task"], "A2ACLI_ERR_USAGE"],
    [["task", "get"], "A2ACLI_ERR_USAGE"],
    [["help", "nonsense"], "A2ACLI_ERR_USAGE"],
    [["completion", "tcsh"], "A2ACLI_ERR_USAGE"],
    [["send", "x", "--timeout", "soon"], "A2ACLI_ERR_USAGE"],
    [["card", "get"], "A2ACLI_ERR_USAGE"],
    [["card", "get", "http://user:pass@localhost:1"], "A2ACLI_ERR_USAGE"],
    [["card", "get", "./not-there.json"], "A2ACLI_ERR_CARD_NOT_FOUND"],
    [["card", "get", "file:///not/there.json"], "A2ACLI_ERR_CARD_NOT_FOUND"],
    [["card", "get", "no-such-host.invalid"], "A2ACLI_ERR_UNREACHABLE"],
  ] as const) {
    it(`a2a ${argv.join(" ")}: ${code}`, async () => {
      const exitCode = cliErrors[code];
      const json = await runCommand([...argv, "-o", "json"]);
      expect(JSON.parse(json.stdout)).toMatchObject({ error: { code, a2aCode: null } });
      expect(json).toMatchObject({ exitCode, stderr: "" });
      const text = await runCommand(argv);
      expect(text).toMatchObject({ exitCode, stdout: "" });
      expect(text.stderr).toContain(`[${code}]`);
      expect(text.stderr).not.toContain("pass");
    });
  }

  it("5 when --timeout expires, also while the card is awaited", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo; // a TCP server has one
    const argv = ["card", "get", `http://127.0.0.1:${port}`, "--timeout", "100ms", "-o", "json"];
    const { stdout, exitCode } = await runCommand(argv);
    silent.closeAllConnections();
    silent.close();
    expect(exitCode).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "A2ACLI_ERR_TIMEOUT" } });
  });

  it("0 for an answer, whatever it is (A2ACLI_EXIT_002)", async () => {
    const { stdout, exitCode } = await runCommand(["send", "fail it broke", "-a", agent.url]);
    expect([field(stdout, "State"), exitCode]).toEqual(["TASK_STATE_FAILED", 0]);
  });
});
