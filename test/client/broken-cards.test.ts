// Cards that are none, or none that can be used: connecting ends soon, in an error of its own class, with a sentence that
// says what to do.

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import {
  AgentError,
  CardInvalidError,
  CardNotFoundError,
  CardRefusedError,
  type ConnectOptions,
  NoInterfaceError,
  RequirementError,
} from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createCardJson, respondJson, startBrokenServer } from "./broken-server.ts";
import { closedAddress } from "./closed-address.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const limits: ConnectOptions = { retry: { attempts: 1 } };
/** For servers that never come to an end. */
const impatient: ConnectOptions = { connectTimeoutMs: 500, requestTimeoutMs: 500 };

/** One way to serve something else than a card, and what connecting to it comes to. */
interface BrokenCard {
  readonly server: string;
  readonly serve: (card: JsonObject, request: IncomingMessage, response: ServerResponse) => void;
  readonly error: abstract new (...args: never[]) => AgentError;
  /** What the message or the hint has to say. */
  readonly says: readonly RegExp[];
  readonly options?: ConnectOptions;
}

const notACard: readonly BrokenCard[] = [
  {
    server: "serves a web page",
    serve: (_, __, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<!doctype html><title>Welcome</title>");
    },
    error: CardNotFoundError,
    says: [/web page|HTML/i],
  },
  {
    server: "has no card",
    serve: (_, __, response) => void response.writeHead(404).end("not found"),
    error: CardNotFoundError,
    says: [/404/],
  },
  {
    server: "wants credentials",
    serve: (_, __, response) => void response.writeHead(401, { "www-authenticate": "Bearer" }).end(),
    error: CardNotFoundError,
    says: [/401/, /credential|header|token|sign/i],
  },
  {
    server: "is out of order",
    serve: (_, __, response) => void response.writeHead(503).end("<h1>Bad gateway</h1>"),
    error: CardNotFoundError,
    says: [/503/],
  },
  {
    server: "never answers",
    serve: () => {},
    error: CardNotFoundError,
    says: [/500 ms|0\.5 s|in time|time/i],
    options: impatient,
  },
  {
    server: "begins a card and never ends it",
    serve: (_, __, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"name":');
    },
    error: CardNotFoundError,
    says: [/500 ms|0\.5 s|in time|time/i],
    options: impatient,
  },
  {
    server: "cuts the connection in the middle of the card",
    serve: (_, __, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"name":', () => response.destroy());
    },
    error: CardNotFoundError,
    says: [/./],
  },
  {
    server: "redirects in a circle",
    serve: (_, request, response) => void response.writeHead(302, { location: request.url ?? "/" }).end(),
    error: CardNotFoundError,
    says: [/redirect/i],
  },
  {
    server: "serves a card of more than 1 MiB",
    serve: (card, _, response) => respondJson(response, { ...card, description: "x".repeat(1_100_000) }),
    error: CardInvalidError,
    says: [/1 MiB|1,?048,?576/],
  },
  {
    server: "serves a card without end",
    serve: (_, __, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const pour = (): void => {
        while (!response.destroyed && response.write(" ".repeat(65_536)));
        if (!response.destroyed) response.once("drain", pour);
      };
      response.write('{"name": "');
      pour();
    },
    error: CardInvalidError,
    says: [/1 MiB|1,?048,?576/],
  },
  {
    server: "serves a card that a gigabyte comes out of",
    serve: (_, __, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipBomb);
    },
    error: CardInvalidError,
    says: [/1 MiB|1,?048,?576/],
  },
  ...(
    [
      ["half of an object", '{"name": "x"', /JSON/],
      ["nothing", "", /JSON|empty/i],
      ["a list", "[]", /object/i],
      ["null", "null", /object/i],
      [
        "an object within 5,000 others",
        `${'{"name":'.repeat(5_000)}1${"}".repeat(5_000)}`,
        /deep|nest|name/i,
      ],
    ] as const
  ).map(
    ([what, body, says]): BrokenCard => ({
      server: `serves ${what} as a card`,
      serve: (_, __, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(body);
      },
      error: CardInvalidError,
      says: [says],
    }),
  ),
  ...(
    [
      ["name", undefined],
      ["skills", undefined],
      ["skills", "none"],
      ["version", 1],
      ["supportedInterfaces", {}],
      ["capabilities", []],
      ["defaultInputModes", [1]],
    ] as const
  ).map(
    ([field, value]): BrokenCard => ({
      server: `serves a card whose "${field}" is ${JSON.stringify(value) ?? "missing"}`,
      serve: ({ [field]: _, ...card }, __, response) =>
        respondJson(response, value === undefined ? card : { ...card, [field]: value as JsonValue }),
      error: CardInvalidError,
      says: [new RegExp(field)],
    }),
  ),
];

const unusable: readonly BrokenCard[] = [
  {
    server: "has only interfaces that nobody knows",
    serve: withInterfaces({ protocolBinding: "urn:example:pigeon", protocolVersion: "1.0" }),
    error: NoInterfaceError,
    says: [/urn:example:pigeon/],
  },
  {
    server: "has only a version that is to come",
    serve: withInterfaces({ protocolBinding: "JSONRPC", protocolVersion: "2.0" }),
    error: NoInterfaceError,
    says: [/2\.0/, /1\.0/],
  },
  {
    server: "has another version than the pinned one",
    serve: (card, _, response) => respondJson(response, card),
    options: { pinVersion: "1.1" },
    error: NoInterfaceError,
    says: [/1\.1/, /1\.0/],
  },
  {
    server: "has another binding than the pinned one",
    serve: (card, _, response) => respondJson(response, card),
    options: { pinBinding: "GRPC" },
    error: NoInterfaceError,
    says: [/GRPC/],
  },
  {
    server: "has an interface that is no address",
    serve: withInterfaces({ url: "javascript:alert(1)", protocolBinding: "JSONRPC", protocolVersion: "1.0" }),
    error: AgentError,
    says: [/javascript:|address|URL/],
  },
  {
    server: "speaks only 0.3",
    serve: (_, request, response) =>
      respondJson(response, olderCard("0.3.0", `http://${request.headers.host}/rpc`)),
    error: NoInterfaceError,
    says: [/0\.3/],
  },
  {
    server: "speaks only 0.2",
    serve: (_, request, response) =>
      respondJson(response, olderCard(undefined, `http://${request.headers.host}/rpc`)),
    error: NoInterfaceError,
    says: [/0\.2|0\.3|older/],
  },
  {
    server: "has not what is required, and escape sequences in what it has",
    serve: (card, _, response) =>
      respondJson(response, {
        ...card,
        name: "\u001b[2J\u001b]0;owned\u0007Agent",
        skills: [{ id: "\u001b[31mred", name: "\u001b[31mred", description: "x", tags: [] }],
      }),
    options: { requires: { skills: ["summarize"] } },
    error: RequirementError,
    says: [/summarize/],
  },
];

describe.each(notACard)("a server that $server", (row) => checkRefused(row));
describe.each(unusable)("an agent that $server", (row) => checkRefused(row));

function checkRefused({ serve, error, says, options }: BrokenCard): void {
  it(`is refused with ${error.name === "AgentError" ? "an error" : error.name}`, {
    timeout: 4_000,
  }, async () => {
    await using server = await startBrokenServer({ serveCard: serve });
    const thrown = await failureOf(server.url, options);
    expect(thrown).toBeInstanceOf(error);
    expectHelpful(thrown, says);
    expect(server.calls).toEqual([]);
  });
}

describe("a server that is not there", () => {
  it("is told from one that has no card: nobody listens", async () => {
    const thrown = await failureOf(`http://${await closedAddress()}`);
    expect(thrown).toBeInstanceOf(CardNotFoundError);
    expectHelpful(thrown, [/refused|reach|listen|running/i]);
  });

  it("is told from one that has no card: there is no such host", async () => {
    const thrown = await failureOf("http://nowhere.invalid");
    expect(thrown).toBeInstanceOf(CardNotFoundError);
    expectHelpful(thrown, [/nowhere\.invalid/]);
  });

  it("is told from one that has no card: its certificate is not trusted", async () => {
    const server = createTlsServer(createSelfSignedCertificate(), (_, response) => respondJson(response, {}));
    server.listen(0, "localhost");
    await once(server, "listening");
    try {
      const thrown = await failureOf(`https://localhost:${(server.address() as AddressInfo).port}`);
      expect(thrown).toBeInstanceOf(CardNotFoundError);
      expectHelpful(thrown, [/certificate/i]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it("is told from one that has no card: it does not speak TLS", async () => {
    await using server = await startBrokenServer({});
    const thrown = await failureOf(server.url.replace("http:", "https:"));
    expect(thrown).toBeInstanceOf(CardNotFoundError);
    expectHelpful(thrown, [/TLS|https|SSL/i]);
  });

  it("is told from one that has no card: the address is none", async () => {
    for (const address of ["ftp://localhost/", "file:///etc/passwd", "", "http://", "two words"]) {
      const thrown = await failureOf(address);
      expect(thrown, address).toBeInstanceOf(AgentError);
      expectHelpful(thrown, [/http|address|URL/i]);
    }
  });
});

describe("a card that is odd", () => {
  it("is read, when it comes after a redirect", async () => {
    await using server = await startBrokenServer({
      serveCard: (card, request, response) =>
        request.url === "/elsewhere.json"
          ? respondJson(response, card)
          : void response.writeHead(302, { location: "/elsewhere.json" }).end(),
    });
    await using agent = await connectAgent(server.url, limits);
    expect(agent.card.name).toBe("Broken agent");
  });

  it("is read, when the server is out of order for a while", async () => {
    let requests = 0;
    await using server = await startBrokenServer({
      serveCard: (card, _, response) => {
        requests += 1;
        if (requests === 1) response.destroy();
        else if (requests === 2) response.writeHead(503).end();
        else respondJson(response, card);
      },
    });
    await using agent = await connectAgent(server.url, {
      ...limits,
      retry: { attempts: 4, initialDelayMs: 1 },
    });
    expect(agent.card.name).toBe("Broken agent");
  });

  it("is read, when it comes byte by byte, and letters of several bytes with it", {
    timeout: 8_000,
  }, async () => {
    const name = "Grüße 語 🌍";
    await using server = await startBrokenServer({
      serveCard: (card, _, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const bytes = Buffer.from(JSON.stringify({ ...card, name }));
        const send = (at: number): void => {
          if (at === bytes.length) return void response.end();
          response.write(bytes.subarray(at, at + 1));
          setImmediate(send, at + 1);
        };
        send(0);
      },
    });
    await using agent = await connectAgent(server.url, { ...limits, connectTimeoutMs: 5_000 });
    expect(agent.card.name).toBe(name);
  });

  it("is read, when it has a byte order mark, members that nobody knows and a type of its own", async () => {
    await using server = await startBrokenServer({
      serveCard: (card, _, response) => {
        response.writeHead(200, { "content-type": "text/plain" });
        const strange = { ...card, toString: "x", "x-vendor": { deep: [1] }, constructor: {} };
        response.end(`\ufeff${JSON.stringify(strange).replace("{", '{"__proto__":{"polluted":true},')}`);
      },
    });
    await using agent = await connectAgent(server.url, limits);
    expect(agent.card.name).toBe("Broken agent");
    expect({}).not.toHaveProperty("polluted");
  });

  it("is read with warnings, when an older one has an interface of today beside its own", async () => {
    await using server = await startBrokenServer({
      serveCard: (card, request, response) =>
        respondJson(response, {
          ...olderCard("0.3.0", `http://${request.headers.host}/old`),
          supportedInterfaces: card["supportedInterfaces"] ?? [],
        }),
    });
    await using agent = await connectAgent(server.url, limits);
    expect(agent.interface.protocolVersion).toBe("1.0");
    expect(agent.cardWarnings.join(" ")).toMatch(/\S+ \S+/);
  });

  it("is found at the older well-known path", async () => {
    await using server = await startBrokenServer({
      serveCard: (card, request, response) =>
        request.url === "/.well-known/agent.json"
          ? respondJson(response, card)
          : void response.writeHead(404).end(),
    });
    await using agent = await connectAgent(server.url, limits);
    expect(agent.card.name).toBe("Broken agent");
  });

  it("is refused by whoever judges it, when a stranger has signed it", async () => {
    const signature = { protected: "eyJhbGciOiJFUzI1NiIsImtpZCI6InN0cmFuZ2VyIn0", signature: "AAAA" };
    await using server = await startBrokenServer({
      serveCard: (card, _, response) => respondJson(response, { ...card, signatures: [signature] }),
    });
    const refusal = new Error("nobody here knows the key of stranger");
    const thrown = await failureOf(server.url, {
      verifyCard: ({ card, text }) => {
        expect(card.signatures).toHaveLength(1);
        expect(text).toContain(signature.protected);
        throw refusal;
      },
    });
    expect(thrown).toBeInstanceOf(CardRefusedError);
    expect(thrown).toMatchObject({ cause: refusal, message: expect.stringContaining(refusal.message) });
    expect(server.calls).toEqual([]);

    await using agent = await connectAgent(server.url, limits); // nobody judges, nobody refuses
    expect(agent.card.signatures).toHaveLength(1);
  });
});

const gzipBomb: Buffer = gzipSync(Buffer.alloc(64 * 1024 * 1024, "x"));

function withInterfaces(...interfaces: JsonObject[]): BrokenCard["serve"] {
  return (_, request, response) =>
    respondJson(
      response,
      createCardJson(interfaces.map((each) => ({ url: `http://${request.headers.host}/rpc`, ...each }))),
    );
}

/** A card as it was before 1.0. */
function olderCard(protocolVersion: string | undefined, url: string): JsonObject {
  return {
    name: "Older agent",
    description: "Was here before.",
    version: "1.0.0",
    url,
    ...(protocolVersion === undefined ? {} : { protocolVersion, preferredTransport: "JSONRPC" }),
    capabilities: { streaming: true },
    authentication: { schemes: ["Bearer"] },
    defaultInputModes: ["text"],
    defaultOutputModes: ["text", "file"],
    skills: [{ id: "old", name: "Old", description: "Old things.", tags: [] }],
  };
}

async function failureOf(url: string, options: ConnectOptions = {}): Promise<unknown> {
  try {
    await using agent = await connectAgent(url, { ...limits, ...options });
    return new Error(`connected to ${agent.interface.url}`);
  } catch (error) {
    return error;
  }
}

/** Says what happened and what to do about it, in words that are safe to print. */
function expectHelpful(thrown: unknown, says: readonly RegExp[]): void {
  if (!(thrown instanceof AgentError)) throw thrown;
  const words = `${thrown.message}\n${thrown.hint ?? ""}`;
  for (const each of says) expect(words).toMatch(each);
  expect(thrown.hint ?? "", `the hint of: ${thrown.message}`).toMatch(/\S+ \S+/);
  expect(words.length).toBeLessThan(2_000);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is about them
  expect(words).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
}
