import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { describe, expect, it } from "vitest";
import { webTransports } from "../../../client/src/transports/web-transports.ts";
import { nodePlatform } from "../../../node/src/client/node-platform.ts";
import { createCallHeaders } from "../agent/call-headers.ts";
import { type Diagnosis, type ExamineOptions, examine } from "./examine.ts";
import type { Finding } from "./finding.ts";
import { parseTarget } from "./target.ts";

const healthy = defineAgent({
  card: {
    name: "Echo",
    description: "Repeats what it is told, word for word, as an artifact. For tries.",
    version: "1.2.0",
    skills: [
      {
        id: "echo",
        name: "Echo",
        description: "Takes text and gives the same text back as an artifact.",
        tags: ["text"],
        examples: ["hello"],
      },
    ],
  },
  async *execute(turn) {
    yield turn.artifact({ name: "echo", text: turn.text });
  },
});

async function diagnose(url: string, options: Partial<ExamineOptions> = {}): Promise<Diagnosis> {
  const platform = nodePlatform({ cardUrl: new URL(url) });
  try {
    return await examine(parseTarget(url), {
      fetch: platform.fetch ?? fetch,
      transports: [...(platform.transports ?? []), ...webTransports],
      credentials: () => createCallHeaders({}),
      cardHeaders: {},
      timeoutMs: 5_000,
      signal: new AbortController().signal,
      ...options,
    });
  } finally {
    await platform.close();
  }
}

function serious({ findings }: Diagnosis): Finding[] {
  return findings.filter(({ severity }) => severity === "problem" || severity === "warning");
}

describe("a healthy agent", () => {
  it("has no problem on any wire", async () => {
    await using served = await serve(healthy, { store: createMemoryTaskStore(), push: true });
    const diagnosis = await diagnose(served.url);
    expect(serious(diagnosis)).toEqual([]);
    expect(diagnosis.card?.name).toBe("Echo");
    const health = diagnosis.findings.find(({ id }) => id === "interface.health");
    expect(health).toMatchObject({
      severity: "ok",
      at: ["JSONRPC", "HTTP+JSON", "GRPC", "connect", "grpc-web"],
    });
  });
});

/** A server with whatever is wrong with it. */
async function startSick(listener: RequestListener): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://localhost:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const cardPath = "/.well-known/agent-card.json";

/** Answers at some paths; everything else is a plain 404. */
function at(
  paths: Readonly<Record<string, (response: ServerResponse, request: IncomingMessage) => void>>,
): RequestListener {
  return (request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const answer = paths[path];
    if (answer === undefined) response.writeHead(404, { "content-type": "text/plain" }).end("Not Found");
    else answer(response, request);
  };
}

function send(
  body: string,
  headers: Record<string, string> = {},
  status = 200,
): (response: ServerResponse) => void {
  return (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

/** The least that is a card; without interfaces that answer. */
const plainCard = {
  name: "Sick",
  description: "An agent that exists to be examined, and is always found wanting.",
  version: "1.0.0",
  supportedInterfaces: [
    { url: "http://localhost:61/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ],
  capabilities: {},
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [
    {
      id: "a",
      name: "A",
      description: "Something that is described at some length, as it should be.",
      tags: ["t"],
      examples: ["x"],
    },
  ],
};

const card = (changes: object = {}): string => JSON.stringify({ ...plainCard, ...changes });

describe("a sick card", () => {
  const cases: readonly [string, RequestListener, Partial<Finding>][] = [
    [
      "a web page in its place",
      at({ [cardPath]: send("<!doctype html><p>Hello", { "content-type": "text/html" }) }),
      { id: "card.location", severity: "problem", what: "There is a web page in place of the card." },
    ],
    ["none at all", at({}), { id: "card.location", severity: "problem", what: "There is no card." }],
    [
      "only at the older path",
      at({ "/.well-known/agent.json": send(card()) }),
      { id: "card.location", severity: "warning" },
    ],
    [
      "where no client looks",
      at({ "/agent-card.json": send(card()) }),
      { id: "card.location", severity: "problem", what: "The card is where no client looks for it." },
    ],
    [
      "broken JSON",
      at({ [cardPath]: send('{"name": ') }),
      { id: "card.location", what: "The card is not valid JSON." },
    ],
    [
      "behind a login",
      at({ [cardPath]: send("{}", {}, 401) }),
      { id: "card.location", what: expect.stringContaining("say who they are") },
    ],
    [
      "over 1 MiB",
      at({ [cardPath]: send(card({ description: "x".repeat(1_100_000) })) }),
      { id: "card.location", what: expect.stringContaining("1 MiB") },
    ],
    [
      "no object",
      at({ [cardPath]: send("[]") }),
      { id: "card.location", what: "There is JSON that is no card." },
    ],
    [
      "never answered for",
      at({ [cardPath]: () => {} }),
      { id: "card.location", what: expect.stringContaining("did not answer in time") },
    ],
    [
      "closed in the middle",
      at({
        [cardPath]: (response) =>
          response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy()),
      }),
      { id: "card.location", what: expect.stringContaining("closed the connection") },
    ],
    [
      "plain text",
      at({ [cardPath]: send(card(), { "content-type": "text/plain" }) }),
      { id: "card.content-type", severity: "warning" },
    ],
    [
      "behind a redirect",
      at({ [cardPath]: send("", { location: "/card" }, 302), "/card": send(card()) }),
      { id: "card.redirect", severity: "warning" },
    ],
    [
      "without cache headers",
      at({ [cardPath]: send(card()) }),
      { id: "card.cache-control", severity: "warning" },
    ],
    ["without ETag", at({ [cardPath]: send(card()) }), { id: "card.etag", severity: "warning" }],
    [
      "an ETag that helps nobody",
      at({ [cardPath]: send(card(), { etag: '"1"' }) }),
      { id: "card.etag", what: expect.stringContaining("all of it again") },
    ],
    [
      "not to be kept",
      at({ [cardPath]: send(card(), { "cache-control": "no-store" }) }),
      { id: "card.cache-control", severity: "warning" },
    ],
    [
      "of version 0.3",
      at({
        [cardPath]: send(
          JSON.stringify({
            name: "Old",
            url: "http://localhost:9/",
            protocolVersion: "0.3.0",
            preferredTransport: "JSONRPC",
            skills: [],
          }),
        ),
      }),
      { id: "card.dialect", severity: "problem", evidence: "url, protocolVersion, preferredTransport" },
    ],
    [
      "members missing",
      at({ [cardPath]: send(JSON.stringify({ ...plainCard, version: undefined, skills: [{ id: "a" }] })) }),
      {
        id: "card.required",
        severity: "problem",
        evidence: "skills[0].name, skills[0].description, skills[0].tags, version",
      },
    ],
    [
      "no interfaces",
      at({ [cardPath]: send(card({ supportedInterfaces: [] })) }),
      { id: "card.values", severity: "problem", evidence: expect.stringContaining("supportedInterfaces") },
    ],
    [
      "wrong types",
      at({ [cardPath]: send(card({ skills: "many" })) }),
      { id: "card.values", severity: "problem", evidence: "skills must be an array" },
    ],
    [
      "unknown members",
      at({ [cardPath]: send(card({ url: "x", color: "red" })) }),
      {
        id: "card.unknown-members",
        severity: "warning",
        evidence: "url, color",
        fix: expect.stringContaining("older versions"),
      },
    ],
    [
      "words for media types",
      at({ [cardPath]: send(card({ defaultInputModes: ["text", "file"] })) }),
      {
        id: "card.modes",
        severity: "problem",
        evidence: "text, file",
        fix: expect.stringContaining("older"),
      },
    ],
    [
      "skills nobody can choose",
      at({ [cardPath]: send(card({ skills: [{ id: "a", name: "A", description: "A", tags: [] }] })) }),
      { id: "skills.description", severity: "warning", evidence: "a" },
    ],
    [
      "skills without examples",
      at({ [cardPath]: send(card({ skills: [{ ...plainCard.skills[0], examples: [] }] })) }),
      { id: "skills.examples", severity: "warning" },
    ],
    [
      "two skills of one id",
      at({ [cardPath]: send(card({ skills: [plainCard.skills[0], plainCard.skills[0]] })) }),
      { id: "skills.ids", severity: "problem" },
    ],
    [
      "an unknown scheme required",
      at({ [cardPath]: send(card({ securityRequirements: [{ schemes: { oauth: { list: [] } } }] })) }),
      { id: "security.schemes", severity: "problem", evidence: "oauth" },
    ],
    [
      "an interface that is not there",
      at({ [cardPath]: send(card()) }),
      {
        id: "interface.health",
        severity: "problem",
        what: expect.stringContaining("refuses connections"),
        at: ["JSONRPC"],
      },
    ],
    [
      "an interface without a URL",
      at({
        [cardPath]: send(
          card({
            supportedInterfaces: [{ url: "/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
          }),
        ),
      }),
      { id: "interface.url", severity: "problem" },
    ],
    [
      "an unknown binding",
      at({
        [cardPath]: send(
          card({ supportedInterfaces: [{ url: "x", protocolBinding: "urn:x", protocolVersion: "1.0" }] }),
        ),
      }),
      { id: "interface.binding", severity: "note" },
    ],
  ];
  it.for(cases)("is told: %s", async ([, listener, expected]) => {
    await using server = await startSick(listener);
    const { findings } = await diagnose(server.url, { timeoutMs: 300 });
    expect(findings).toContainEqual(expect.objectContaining(expected));
  });
});

describe("a server that cannot be reached", () => {
  it("is told when nothing listens", async () => {
    const server = await startSick(at({}));
    const { url } = server;
    await server[Symbol.asyncDispose]();
    const { findings, card: found } = await diagnose(url);
    expect(findings.at(-1)).toMatchObject({
      id: "network.connect",
      severity: "problem",
      evidence: "ECONNREFUSED",
    });
    expect(found).toBeUndefined();
  });

  it("is told when nobody knows its name", async () => {
    const { findings } = await diagnose("https://no-such-agent.invalid");
    expect(findings).toMatchObject([{ id: "network.name", severity: "problem" }]);
  });

  it("is told when TLS is tried where there is none", async () => {
    await using server = await startSick(at({}));
    const { findings } = await diagnose(server.url.replace("http:", "https:"));
    expect(findings.at(-1)).toMatchObject({
      id: "network.tls",
      severity: "problem",
      what: expect.stringContaining("TLS"),
    });
  });
});

interface RpcCall {
  readonly id: string;
  readonly method: string;
  readonly request: IncomingMessage;
}

/** A server of JSON-RPC alone; `answer` gives the members beside `jsonrpc` and `id`, or takes the response over. */
function jsonRpcAgent(
  changes: object,
  answer: (call: RpcCall, response: ServerResponse) => object | undefined,
): RequestListener {
  return (request, response) => {
    const { host = "" } = request.headers;
    if (request.url === cardPath) {
      const supportedInterfaces = [
        { url: `http://${host}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ];
      return send(card({ supportedInterfaces, ...changes }))(response);
    }
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      if (request.method !== "POST") return send("", {}, 405)(response);
      const { id, method } = JSON.parse(body) as { id: string; method: string }; // our own client's
      const members = answer({ id, method, request }, response);
      if (members !== undefined) send(JSON.stringify({ jsonrpc: "2.0", id, ...members }))(response);
    });
  };
}

const notFound = { error: { code: -32001, message: "no such task" } };
const bearerCard = {
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
};

describe("a sick server", () => {
  const cases: readonly [string, RequestListener, Partial<Finding>, Partial<ExamineOptions>?][] = [
    [
      "errors without ErrorInfo",
      jsonRpcAgent({}, () => notFound),
      { id: "errors.form", severity: "warning", evidence: expect.stringContaining("ErrorInfo") },
    ],
    [
      "every version served",
      jsonRpcAgent({}, () => notFound),
      { id: "version.unknown", severity: "warning", what: expect.stringContaining("99.0") },
    ],
    [
      "a task for every id",
      jsonRpcAgent({}, () => ({
        result: { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } },
      })),
      { id: "interface.health", severity: "problem", what: expect.stringContaining("answered with a task") },
    ],
    [
      "streaming only on paper",
      jsonRpcAgent({ capabilities: { streaming: true } }, ({ method }) =>
        method === "GetTask" ? notFound : { error: { code: -32601, message: "unknown" } },
      ),
      {
        id: "capability.streaming",
        severity: "problem",
        what: "The card says streaming, and it does not work.",
      },
    ],
    [
      "a capability that is not declared",
      jsonRpcAgent({}, () => notFound),
      { id: "capability.push", severity: "note" },
    ],
    [
      "anonymous callers let in",
      jsonRpcAgent(bearerCard, () => notFound),
      { id: "security.anonymous", severity: "problem" },
    ],
    [
      "credentials nobody was told about",
      jsonRpcAgent({}, (_call, response) => void send("{}", {}, 401)(response)),
      { id: "interface.health", severity: "problem", what: expect.stringContaining("card does not say so") },
    ],
    [
      "credentials as the card says",
      jsonRpcAgent(bearerCard, (_call, response) => void send("{}", {}, 401)(response)),
      { id: "interface.health", severity: "note", fix: expect.stringContaining("--bearer") },
    ],
    [
      "credentials, and the caller has them",
      jsonRpcAgent(bearerCard, ({ request }, response) =>
        request.headers.authorization === "Bearer s" ? notFound : void send("{}", {}, 401)(response),
      ),
      { id: "security.anonymous", severity: "ok" },
      { credentials: () => createCallHeaders({ authorization: "Bearer s" }) },
    ],
    [
      "a web page at the interface",
      jsonRpcAgent(
        {},
        (_call, response) => void send("<html>", { "content-type": "text/html" }, 404)(response),
      ),
      { id: "interface.health", severity: "problem", what: "There is nothing at the interface's URL." },
    ],
    [
      "methods of 0.3",
      jsonRpcAgent({}, () => ({ error: { code: -32601, message: "Method not found" } })),
      { id: "interface.health", severity: "problem", what: "The interface does not know GetTask." },
    ],
    [
      "the card's version refused",
      jsonRpcAgent({}, () => ({ error: { code: -32009, message: "no" } })),
      { id: "interface.health", severity: "problem", what: expect.stringContaining("refuses it") },
    ],
    [
      "calls never answered",
      jsonRpcAgent({}, () => undefined),
      { id: "interface.health", severity: "problem", what: expect.stringContaining("in time") },
    ],
    [
      "nonsense",
      jsonRpcAgent({}, (_call, response) => void send("null")(response)),
      { id: "interface.health", severity: "problem" },
    ],
    ["no preflight", jsonRpcAgent({}, () => notFound), { id: "browsers.cors", severity: "note" }],
  ];
  it.for(cases)("is told: %s", async ([, listener, expected, options = {}]) => {
    await using server = await startSick(listener);
    const { findings } = await diagnose(server.url, { timeoutMs: 300, ...options });
    expect(findings).toContainEqual(expect.objectContaining(expected));
  });

  it("gets nothing for its skills", async () => {
    const methods = new Set<string>();
    await using server = await startSick(
      jsonRpcAgent({ capabilities: { streaming: true } }, ({ method }) => {
        methods.add(method);
        return notFound;
      }),
    );
    await diagnose(server.url, { timeoutMs: 300 });
    expect([...methods].sort()).toEqual([
      "GetExtendedAgentCard",
      "GetTask",
      "ListTaskPushNotificationConfigs",
      "SubscribeToTask",
    ]);
  });

  it("is left at once when the user interrupts", async () => {
    const controller = new AbortController();
    await using server = await startSick(
      at({
        [cardPath]: () => controller.abort(new Error("enough")),
      }),
    );
    await expect(diagnose(server.url, { signal: controller.signal })).rejects.toThrow("enough");
  });
});
