import type { RequestListener } from "node:http";
import { describe, expect, it } from "vitest";
import { diagnose } from "../../test-support/diagnose.ts";
import { jsonRpcAgent, send, startSick } from "../../test-support/sick-server.ts";
import type { Finding } from "./findings.ts";

const notFound = { error: { code: -32001, message: "no such task" } };
const errorInfo = {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason: "TASK_NOT_FOUND",
  domain: "a2a-protocol.org",
};
const bearerCard = {
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
};

// One of them never answers: the others are examined meanwhile.
describe.concurrent("a sick server", () => {
  const cases: readonly [string, RequestListener, Partial<Finding>, Parameters<typeof diagnose>[1]?][] = [
    [
      "errors without ErrorInfo",
      jsonRpcAgent({}, () => notFound),
      { id: "E-2", severity: "note", what: expect.stringContaining("ErrorInfo") },
    ],
    [
      "every version served",
      jsonRpcAgent({}, () => notFound),
      { id: "F-5", severity: "warning", evidence: expect.stringContaining("99.0") },
    ],
    [
      "a task for every id",
      jsonRpcAgent({}, () => ({
        result: { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } },
      })),
      { id: "interface.any-task", severity: "problem" },
    ],
    [
      "streaming only on paper",
      jsonRpcAgent({ capabilities: { streaming: true } }, ({ method }) =>
        method === "GetTask" ? notFound : { error: { code: -32601, message: "unknown" } },
      ),
      {
        id: "A-34",
        severity: "problem",
        what: "The card declares streaming, but streaming does not work.",
      },
    ],
    [
      "streaming that answers for tasks which do not exist",
      jsonRpcAgent({ capabilities: { streaming: true } }, ({ id, method }, response) => {
        if (method !== "SubscribeToTask") return notFound;
        const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
        const event = JSON.stringify({ jsonrpc: "2.0", id, result: { task } });
        return void send(`data: ${event}\n\n`, { "content-type": "text/event-stream" })(response);
      }),
      {
        id: "A-35",
        severity: "warning",
      },
    ],
    ["a capability that is not declared", jsonRpcAgent({}, () => notFound), { id: "A-50", severity: "note" }],
    [
      "anonymous callers let in",
      jsonRpcAgent(bearerCard, () => notFound),
      { id: "O-2", severity: "problem" },
    ],
    [
      "credentials nobody was told about",
      jsonRpcAgent({}, (_call, response) => void send("{}", {}, 401)(response)),
      { id: "interface.undeclared-credentials", severity: "problem" },
    ],
    [
      "credentials as the card says",
      jsonRpcAgent(bearerCard, (_call, response) => void send("{}", {}, 401)(response)),
      { id: "interface.credentials", severity: "note", fix: expect.stringContaining("--bearer") },
    ],
    [
      "credentials, and the caller has them",
      jsonRpcAgent(bearerCard, ({ request }, response) =>
        request.headers.authorization === "Bearer s"
          ? notFound
          : void send("{}", { "www-authenticate": "Bearer" }, 401)(response),
      ),
      { id: "O", severity: "ok" },
      { bearer: "s" },
    ],
    [
      "a web page at the interface",
      jsonRpcAgent(
        {},
        (_call, response) => void send("<html>", { "content-type": "text/html" }, 404)(response),
      ),
      { id: "interface.nothing", severity: "problem" },
    ],
    [
      "nothing at the interface",
      jsonRpcAgent({}, (_call, response) => void send("", {}, 404)(response)),
      { id: "interface.nothing", severity: "problem" },
    ],
    [
      "calls sent elsewhere",
      jsonRpcAgent({}, (_call, response) => void send("", { location: "/elsewhere" }, 307)(response)),
      { id: "interface.redirect", severity: "problem" },
    ],
    [
      "methods of 0.3",
      jsonRpcAgent({}, () => ({ error: { code: -32601, message: "Method not found" } })),
      { id: "interface.no-method", severity: "problem" },
    ],
    [
      "the card's version refused",
      jsonRpcAgent({}, () => ({ error: { code: -32009, message: "no" } })),
      { id: "interface.version-refused", severity: "problem" },
    ],
    [
      "calls never answered",
      jsonRpcAgent({}, () => undefined),
      { id: "interface.timeout", severity: "problem" },
      { timeoutMs: 1_000 },
    ],
    [
      "nonsense",
      jsonRpcAgent({}, (_call, response) => void send("null")(response)),
      { id: "interface.nonsense", severity: "problem" },
    ],
    [
      "the wrong reason in ErrorInfo",
      jsonRpcAgent({}, () => ({
        error: { ...notFound.error, data: [{ ...errorInfo, reason: "NO_SUCH_TASK" }] },
      })),
      { id: "E-2", severity: "warning" },
    ],
    [
      "no challenge",
      jsonRpcAgent(bearerCard, ({ request }, response) =>
        request.headers.authorization === "Bearer s" ? notFound : void send("{}", {}, 401)(response),
      ),
      { id: "O-2", severity: "note" },
      { bearer: "s" },
    ],
    ["no preflight", jsonRpcAgent({}, () => notFound), { id: "browsers.refused", severity: "note" }],
  ];
  it.for(cases)("is told: %s", async ([, listener, expected, options = {}]) => {
    await using server = await startSick(listener);
    const { findings } = await diagnose(server.url, options);
    expect(findings).toContainEqual(expect.objectContaining(expected));
  });

  it("is told nothing of names of errors that are as they should be", async () => {
    await using server = await startSick(
      jsonRpcAgent({}, () => ({ error: { ...notFound.error, data: [errorInfo] } })),
    );
    const { findings } = await diagnose(server.url);
    expect(findings.map(({ id }) => id)).toContain("F-5");
    expect(findings.map(({ id }) => id)).not.toContain("E-2");
  });

  it("gets nothing for its skills", async () => {
    const methods = new Set<string>();
    await using server = await startSick(
      jsonRpcAgent({ capabilities: { streaming: true } }, ({ method }) => {
        methods.add(method);
        return notFound;
      }),
    );
    await diagnose(server.url);
    expect(methods).toContain("SubscribeToTask");
    expect([...methods].filter((method) => /^send/i.test(method))).toEqual([]);
  });
});
