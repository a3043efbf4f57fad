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
  UnreachableError,
} from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { createCardJson, olderCard } from "../support/cards.ts";
import { respondJson, startBrokenServer } from "./broken-server.ts";
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

const refuses = (
  server: string,
  error: BrokenCard["error"],
  says: BrokenCard["says"],
  serve: BrokenCard["serve"],
  options: ConnectOptions = {},
): BrokenCard => ({ server, error, says, serve, options });

/** Answers with this body in place of a card. */
const sends =
  (status: number, body: string | Buffer = "", fields: Record<string, string> = {}): BrokenCard["serve"] =>
  (_, __, response) =>
    void response.writeHead(status, { "content-type": "application/json", ...fields }).end(body);

const unchanged: BrokenCard["serve"] = (card, _, response) => respondJson(response, card);

const older =
  (version?: string): BrokenCard["serve"] =>
  (_, { headers }, response) =>
    respondJson(response, olderCard(version, `http://${headers.host}/rpc`));

const begins: BrokenCard["serve"] = (_, __, response) => {
  response.writeHead(200, { "content-type": "application/json" }).write('{"name":');
};

const page = "<!doctype html><title>Welcome</title>";
const inTime = /in time \(500 ms\)/;
const tooLarge = /larger than the limit of 1048576 bytes/;

const gzipBomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, "x"));

const notACard: readonly BrokenCard[] = [
  refuses(
    "serves a web page",
    CardNotFoundError,
    [/web page|HTML/i],
    sends(200, page, { "content-type": "text/html" }),
  ),
  refuses("has no card", CardNotFoundError, [/404/], sends(404, "not found")),
  refuses(
    "wants credentials",
    CardNotFoundError,
    [/401/, /credential|header|token|sign/i],
    sends(401, "", { "www-authenticate": "Bearer" }),
  ),
  refuses(
    "is out of order",
    CardNotFoundError,
    [/503/],
    sends(503, "<h1>Bad gateway</h1>", { "content-type": "text/html" }),
  ),
  refuses("never answers", CardNotFoundError, [inTime], () => {}, impatient),
  refuses("begins a card and never ends it", CardNotFoundError, [inTime], begins, impatient),
  refuses(
    "cuts the connection in the middle of the card",
    CardNotFoundError,
    [/ended in the middle/],
    (_, __, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"name":', () => response.destroy());
    },
  ),
  refuses("sends half a letter", CardInvalidError, [/UTF-8/], sends(200, Buffer.from([0x7b, 0xc3]))),
  refuses("answers 304 to a question without a condition", CardNotFoundError, [/304/], sends(304)),
  refuses("redirects in a circle", CardNotFoundError, [/redirect/i], (_, { url = "/" }, response) => {
    response.writeHead(302, { location: url }).end();
  }),
  refuses("serves a card of more than 1 MiB", CardInvalidError, [tooLarge], (card, _, response) =>
    respondJson(response, { ...card, description: "x".repeat(1_100_000) }),
  ),
  refuses("serves a card without end", CardInvalidError, [tooLarge], (_, __, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const pour = (): void => {
      while (!response.destroyed && response.write(" ".repeat(65_536)));
      if (!response.destroyed) response.once("drain", pour);
    };
    response.write('{"name": "');
    pour();
  }),
  refuses(
    "serves a card that a gigabyte comes out of",
    CardInvalidError,
    [tooLarge],
    sends(200, gzipBomb, { "content-encoding": "gzip" }),
  ),
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
  ).map(([what, body, says]) =>
    refuses(`serves ${what} as a card`, CardInvalidError, [says], sends(200, body)),
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
  ).map(([field, value]) =>
    refuses(
      `serves a card whose "${field}" is ${JSON.stringify(value) ?? "missing"}`,
      CardInvalidError,
      [new RegExp(field)],
      ({ [field]: _, ...card }, __, response) =>
        respondJson(response, value === undefined ? card : { ...card, [field]: value as JsonValue }),
    ),
  ),
];

const unusable: readonly BrokenCard[] = [
  refuses(
    "has only interfaces that nobody knows",
    NoInterfaceError,
    [/urn:example:pigeon/],
    offers("urn:example:pigeon"),
  ),
  refuses("has only a version that is to come", NoInterfaceError, [/2\.0/, /1\.0/], offers("JSONRPC", "2.0")),
  refuses("has another version than the pinned one", NoInterfaceError, [/1\.1/, /1\.0/], unchanged, {
    pinVersion: "1.1",
  }),
  refuses("has another binding than the pinned one", NoInterfaceError, [/GRPC/], unchanged, {
    pinBinding: "GRPC",
  }),
  refuses(
    "has an interface that is no address",
    AgentError,
    [/javascript:|address|URL/],
    offers("JSONRPC", "1.0", "javascript:alert(1)"),
  ),
  refuses("speaks only 0.1", NoInterfaceError, [/only A2A 0\.1 .*it wants 1\.0, 0\.3, 0\.2/], older("0.1.0")),
  refuses(
    "has not what is required, and escape sequences in what it has",
    RequirementError,
    [/summarize/],
    (card, _, response) =>
      respondJson(response, {
        ...card,
        name: "\u001b[2J\u001b]0;owned\u0007Agent",
        skills: [{ id: "\u001b[31mred", name: "\u001b[31mred", description: "x", tags: [] }],
      }),
    { requires: { skills: ["summarize"] } },
  ),
];

describe.each(notACard)("a server that $server", (row) => checkRefused(row));
describe.each(unusable)("an agent that $server", (row) => checkRefused(row));

function checkRefused({ serve, error, says, options }: BrokenCard): void {
  it(`is refused with ${error.name === "AgentError" ? "an error" : error.name}`, {
    timeout: 4_000,
  }, async () => {
    await using server = await startBrokenServer({ serveCard: serve });
    const thrown = await rejectedWith(connect(server.url, options), error);
    expectHelpful(thrown, says);
    expect(server.calls).toEqual([]);
  });
}

const connect = (url: string, options: ConnectOptions = {}) => connectAgent(url, { ...limits, ...options });

describe("a server that is not there", () => {
  it("is told from one that has no card: nobody listens", async () => {
    const thrown = await rejectedWith(connect(`http://${await closedAddress()}`), UnreachableError);
    expectHelpful(thrown, [/nothing listens there/]);
    expect(thrown).toHaveProperty("cause", expect.anything());
  });

  it("is told from one that has no card: there is no such host", async () => {
    const thrown = await rejectedWith(connect("http://nowhere.invalid"), CardNotFoundError);
    expectHelpful(thrown, [/nowhere\.invalid/]);
  });

  it("is told from one that has no card: its certificate is not trusted", async () => {
    const server = createTlsServer(createSelfSignedCertificate(), (_, response) => respondJson(response, {}));
    server.listen(0, "localhost");
    await once(server, "listening");
    try {
      const thrown = await rejectedWith(
        connect(`https://localhost:${(server.address() as AddressInfo).port}`),
        CardNotFoundError,
      );
      expectHelpful(thrown, [/certificate/i]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it("is told from one that has no card: it does not speak TLS", async () => {
    await using server = await startBrokenServer({});
    const thrown = await rejectedWith(connect(server.url.replace("http:", "https:")), CardNotFoundError);
    expectHelpful(thrown, [/TLS|https|SSL/i]);
  });

  it("is told from one that has no card: the address is none", async () => {
    for (const address of ["ftp://localhost/", "file:///etc/passwd", "", "http://", "two words"]) {
      const thrown = await failureOf(connect(address));
      expect(thrown, address).toBeInstanceOf(AgentError);
      expectHelpful(thrown, [/http|address|URL/i]);
    }
  });
});

describe("a card that is odd", () => {
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

  it("is refused by whoever judges it, when a stranger has signed it", async () => {
    const signature = { protected: "eyJhbGciOiJFUzI1NiIsImtpZCI6InN0cmFuZ2VyIn0", signature: "AAAA" };
    await using server = await startBrokenServer({
      serveCard: (card, _, response) => respondJson(response, { ...card, signatures: [signature] }),
    });
    const refusal = new Error("nobody here knows the key of stranger");
    const thrown = await rejectedWith(
      connect(server.url, {
        verifyCard: ({ card, text }) => {
          expect(card.signatures).toHaveLength(1);
          expect(text).toContain(signature.protected);
          throw refusal;
        },
      }),
      CardRefusedError,
    );
    expect(thrown).toMatchObject({ cause: refusal, message: expect.stringContaining(refusal.message) });
    expect(server.calls).toEqual([]);

    await using agent = await connectAgent(server.url, limits); // nobody judges, nobody refuses
    expect(agent.card.signatures).toHaveLength(1);
  });
});

/** Serves a card with one interface. */
function offers(protocolBinding: string, protocolVersion = "1.0", url?: string): BrokenCard["serve"] {
  return (_, { headers }, response) => {
    const own = `http://${headers.host}/rpc`;
    respondJson(response, createCardJson([{ url: url ?? own, protocolBinding, protocolVersion }]));
  };
}

/** Says what happened and what to do about it, in words that are safe to print. */
function expectHelpful(thrown: unknown, says: readonly RegExp[]): void {
  if (!(thrown instanceof AgentError)) throw thrown;
  const words = `${thrown.message}\n${thrown.hint ?? ""}`;
  for (const each of says) expect(words).toMatch(each);
  expect(thrown.hint ?? "", `the hint of: ${thrown.message}`).toMatch(/\S+ \S+ \S+/);
  expect(words.length).toBeLessThan(2_000);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is about them
  expect(words).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
}
